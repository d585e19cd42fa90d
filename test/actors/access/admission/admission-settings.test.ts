import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AdmissionSettingsError,
  admissionFromEnvironment,
} from '../../../../src/actors/access/admission/admission.ts';
import { canary } from './fake-platform.ts';

const url = 'https://platform.example.com/v1/admission?tier=gold';
const both = { SERVICE_ADMISSION_URL: url, SERVICE_PLATFORM_TOKEN: canary };
const silent = { settings: null, warning: null, info: null };

describe('admission variables of the environment', () => {
  it('turn admission on with both variables, and one line reports it', () => {
    expect(admissionFromEnvironment(both)).toEqual({
      settings: { url, token: canary, orgId: '', workspaceId: '' },
      warning: null,
      info: 'admission: on; https://platform.example.com is called before an invocation starts',
    });
  });

  it('may set a tenancy, and values are trimmed', () => {
    const env = {
      SERVICE_ADMISSION_URL: ` ${url}\n`,
      SERVICE_PLATFORM_TOKEN: `${canary}\n`,
      SERVICE_ORG_ID: ' acme',
      SERVICE_WORKSPACE_ID: 'till two ',
    };
    expect(admissionFromEnvironment(env).settings).toEqual({
      url,
      token: canary,
      orgId: 'acme',
      workspaceId: 'till two',
    });
  });

  it.each([
    [{}, silent],
    [{ SERVICE_ADMISSION_URL: '', SERVICE_PLATFORM_TOKEN: ' ' }, silent],
    [{ SERVICE_ORG_ID: 'acme', SERVICE_WORKSPACE_ID: 'till' }, silent],
    [
      { SERVICE_ADMISSION_URL: url },
      {
        ...silent,
        warning:
          'admission: off, because SERVICE_PLATFORM_TOKEN is not set; set it, or unset SERVICE_ADMISSION_URL',
      },
    ],
    [
      { SERVICE_PLATFORM_TOKEN: canary, SERVICE_ADMISSION_URL: '' },
      {
        ...silent,
        warning:
          'admission: off, because SERVICE_ADMISSION_URL is not set; set it, or unset SERVICE_PLATFORM_TOKEN',
      },
    ],
  ])('leave admission off with %j', (env, expected) => {
    expect(admissionFromEnvironment(env)).toEqual(expected);
  });

  it.each([
    ['platform.example.com/v1', /^SERVICE_ADMISSION_URL is not an http or https URL;/],
    ['/v1/admission', /^SERVICE_ADMISSION_URL is not an http or https URL;/],
    ['file:///etc/passwd', /^SERVICE_ADMISSION_URL is not an http or https URL;/],
    ['http://', /^SERVICE_ADMISSION_URL is not an http or https URL;/],
    ['https://me:pw-canary@example.com/', /^SERVICE_ADMISSION_URL holds a user name or a password/],
  ])('refuse the URL %s', (sent, message) => {
    const read = () => admissionFromEnvironment({ ...both, SERVICE_ADMISSION_URL: sent });
    expect(read).toThrow(AdmissionSettingsError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/canary/);
  });

  it.each([
    ['SERVICE_PLATFORM_TOKEN', `${canary} and more`],
    ['SERVICE_PLATFORM_TOKEN', `${canary}\r\nX-Admin: 1`],
    ['SERVICE_PLATFORM_TOKEN', `${canary}ü`],
    ['SERVICE_ORG_ID', 'acme\nX-Admin: 1'],
    ['SERVICE_WORKSPACE_ID', 'Kasse für alle'],
  ])('refuse %s when no header can carry it', (name, value) => {
    const message = `${name} holds characters that no HTTP header can carry; set it to plain ASCII text`;
    expect(() => admissionFromEnvironment({ ...both, [name]: value })).toThrow(
      new AdmissionSettingsError(message),
    );
  });

  it('keep the token out of every message', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const SERVICE_PLATFORM_TOKEN = `${before}${canary}${after}`;
        for (const SERVICE_ADMISSION_URL of [url, '', 'nowhere']) {
          let said: string;
          try {
            const setup = admissionFromEnvironment({
              SERVICE_ADMISSION_URL,
              SERVICE_PLATFORM_TOKEN,
            });
            said = `${setup.info} ${setup.warning}`;
          } catch (error) {
            said = String(error);
          }
          expect(said).not.toContain(canary);
        }
      }),
    );
  });
});
