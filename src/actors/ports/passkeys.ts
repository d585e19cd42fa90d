import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type {
  ConfirmedDecision,
  PasskeyConfirmation,
} from '../../machines/domain/passkey-confirmation.ts';
import type { OpenSession } from './web-sessions.ts';

export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;

/** A passkey of a person; times are in epoch milliseconds. */
export interface Passkey {
  id: string;
  /** Chosen by the person. */
  name: string;
  createdAt: number;
  /** Until then it confirms nothing. */
  countsFrom: number;
  /** `null` for never. */
  usedAt: number | null;
}

/** The problem is one sentence without a full stop. */
export interface PasskeyRefusal {
  kind: 'refused';
  problem: string;
}

/** A question to the browser; the answer must carry the nonce, once. */
export interface PasskeyQuestion<Options> {
  kind: 'asked';
  nonce: string;
  options: Options;
}

/** The browser's answer to a question for a new passkey, with the name that the person chose. */
export interface AttestationAnswer {
  name: string;
  nonce: string;
  response: RegistrationResponseJSON;
}

/** The browser's answer to a question for a confirmation. */
export interface AssertionAnswer {
  nonce: string;
  response: AuthenticationResponseJSON;
}

/** Registers passkeys of people who have signed in, and verifies decisions that people confirm with them. */
export interface Passkeys {
  /** Lists the passkeys of a person, oldest first. */
  list(open: OpenSession): Promise<Passkey[]>;
  /** Starts a registration, which needs a recent sign-in. */
  startRegistration(open: OpenSession): Promise<PasskeyQuestion<CreationOptions> | PasskeyRefusal>;
  /** Stores a new passkey. Rejects if it cannot be written to the log. */
  register(
    open: OpenSession,
    answer: AttestationAnswer,
  ): Promise<{ kind: 'registered'; passkey: Passkey } | PasskeyRefusal>;
  /** Removes a passkey, which needs a recent sign-in; `unknown` if the person has no such passkey. */
  remove(open: OpenSession, id: string): Promise<{ kind: 'removed' | 'unknown' } | PasskeyRefusal>;
  /** Asks for a confirmation of a decision. */
  ask(
    open: OpenSession,
    confirmed: ConfirmedDecision,
  ): Promise<PasskeyQuestion<RequestOptions> | PasskeyRefusal>;
  /** Verifies the confirmation of a decision. A nonce counts once, also if the confirmation is refused. */
  confirm(
    open: OpenSession,
    confirmed: ConfirmedDecision,
    answer: AssertionAnswer,
  ): Promise<{ kind: 'confirmed'; confirmation: PasskeyConfirmation } | PasskeyRefusal>;
}
