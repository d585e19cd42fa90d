// Access control: authentication of callers and the platform's admission check.

export {
  Admission,
  AdmissionError,
  type AdmissionSettings,
  AdmissionSettingsError,
  type AdmissionSetup,
  admissionFromEnvironment,
  askPlatform,
  type PlatformReply,
} from './admission/admission.ts';
export { cardSchemes, probeIssuer, probeProvider, providerAddress } from './auth/auth.ts';
export { type AuthenticatorOptions, createAuthenticator } from './auth/authenticator.ts';
export { configuredVerifiers } from './auth/configured-verifiers.ts';
export { tokenIssuers } from './auth/token-issuers.ts';
export { loadWebAccess } from './sign-in/load-web-access.ts';
