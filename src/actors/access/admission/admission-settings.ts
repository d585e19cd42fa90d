/** Connection to the platform (docs/contract/admission.md). */
export interface AdmissionSettings {
  url: string;
  token: string;
  /** Organisation id. Empty if the agent belongs to no organisation; `workspaceId` likewise. */
  orgId: string;
  workspaceId: string;
}

/** Admission settings read from the environment, and the matching log messages. */
export interface AdmissionSetup {
  /** `null` while admission is off. */
  settings: AdmissionSettings | null;
  warning: string | null;
  info: string | null;
}

/** An admission variable is invalid. The message names the variable and the remedy, never its value. */
export class AdmissionSettingsError extends Error {
  readonly code = 'admission_settings_invalid';
}

/**
 * Reads the admission settings. Admission is on when both of its variables are set; surrounding white space is ignored.
 * Throws AdmissionSettingsError for a value that would make every call fail.
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
    info: `admission: on; ${origin} is called before an invocation starts`,
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
