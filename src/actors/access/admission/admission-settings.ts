/** How the platform is reached (docs/contract/admission.md). */
export interface AdmissionSettings {
  url: string;
  token: string;
  /** Empty when the agent belongs to none; so is the workspace. */
  orgId: string;
  workspaceId: string;
}

/** What the environment says of admission, and what the log should say of that. */
export interface AdmissionSetup {
  /** `null` while admission is off. */
  settings: AdmissionSettings | null;
  warning: string | null;
  info: string | null;
}

/** A variable of admission cannot be used; the message names it and says what to do, not what it holds. */
export class AdmissionSettingsError extends Error {
  readonly code = 'admission_settings_invalid';
}

/**
 * Reads how admission is set up. It is on when both its variables are set; white space around a value
 * does not count. Throws AdmissionSettingsError for a value with which no call could ever be made.
 */
export function admissionFromEnvironment(env: NodeJS.ProcessEnv): AdmissionSetup {
  const read = (name: string): string => env[name]?.trim() ?? '';
  const url = read('SERVICE_ADMISSION_URL');
  const token = read('SERVICE_PLATFORM_TOKEN');
  if (url === '' && token === '') return { settings: null, warning: null, info: null };
  if (url === '') return off('SERVICE_ADMISSION_URL', 'SERVICE_PLATFORM_TOKEN');
  if (token === '') return off('SERVICE_PLATFORM_TOKEN', 'SERVICE_ADMISSION_URL');
  const { origin } = readUrl(url);
  const orgId = read('SERVICE_ORG_ID');
  const workspaceId = read('SERVICE_WORKSPACE_ID');
  checkHeader('SERVICE_PLATFORM_TOKEN', token, /^[\x21-\x7e]+$/);
  checkHeader('SERVICE_ORG_ID', orgId, /^[\x20-\x7e]*$/);
  checkHeader('SERVICE_WORKSPACE_ID', workspaceId, /^[\x20-\x7e]*$/);
  return {
    settings: { url, token, orgId, workspaceId },
    warning: null,
    info: `admission: on; ${origin} is asked before an invocation starts`,
  };
}

function off(missing: string, present: string): AdmissionSetup {
  const warning = `admission: off, because ${missing} is not set; set it, or unset ${present}`;
  return { settings: null, warning, info: null };
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new AdmissionSettingsError(
      'SERVICE_ADMISSION_URL is not an http or https URL; write one such as https://platform.example.com/v1/admission',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new AdmissionSettingsError(
      'SERVICE_ADMISSION_URL holds a user name or a password; take it out, SERVICE_PLATFORM_TOKEN signs the call in',
    );
  }
  return url;
}

function checkHeader(name: string, value: string, allowed: RegExp): void {
  if (allowed.test(value)) return;
  throw new AdmissionSettingsError(
    `${name} holds characters that no HTTP header can carry; set it to plain ASCII text`,
  );
}
