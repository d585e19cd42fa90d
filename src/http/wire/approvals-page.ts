import { z } from 'zod';
import type { DeviceSubscription } from '../../actors/ports/devices.ts';
import type {
  AssertionAnswer,
  AttestationAnswer,
  CreationOptions,
  RequestOptions,
} from '../../actors/ports/passkeys.ts';
import type { WebSession } from '../../actors/ports/web-sessions.ts';
import { fieldOf } from './field-of.ts';
import { Problem } from './problem.ts';
import { timestamp } from './timestamp.ts';

/** A person who has signed in with a browser. */
export interface PersonJson {
  /** Name for display; unverified. */
  name: string;
  /** The verified email; `null` without one. */
  email: string | null;
  /** Sent with each change in `X-Holdpoint-CSRF`. */
  csrf: string;
  expires_at: string;
}

/** Response of `GET /approvals/api/session`. */
export interface SessionJson extends PersonJson {
  /** `null` at a dashboard, whose calls are those of several agents. */
  agent_id: string | null;
  /** Set for a person who may open the dashboard. */
  is_operator?: true;
}

/** Response of `POST /approvals/api/sign-out`. */
export interface SignedOutJson {
  /** Where the issuer ends its own session; `null` if it has no such place. */
  to: string | null;
}

/** A passkey of the person. */
export interface PasskeyJson {
  id: string;
  name: string;
  created_at: string;
  /** Until then it confirms nothing. */
  counts_from: string;
  /** `null` for never. */
  used_at: string | null;
}

/** Response of `GET /approvals/api/passkeys`, oldest first. */
export interface PasskeyListJson {
  passkeys: PasskeyJson[];
}

/** Response of `POST /approvals/api/passkeys`. */
export type AddedPasskeyJson = PasskeyJson;

/** Response of `POST /approvals/api/passkeys/questions`. */
export interface RegistrationQuestionJson {
  nonce: string;
  options: CreationOptions;
}

/** Response of `POST /approvals/api/tasks/{id}/questions`. */
export interface ConfirmationQuestionJson {
  nonce: string;
  options: RequestOptions;
}

/** A device that receives notifications of the person. */
export interface DeviceJson {
  /** SHA-256 of its endpoint, in lower-case hex. */
  id: string;
  created_at: string;
}

/** Response of `GET /approvals/api/devices`. */
export interface DeviceListJson {
  /** Public VAPID key of the agent, in base64url; `null` if it sends no notifications. */
  public_key: string | null;
  devices: DeviceJson[];
}

/** Values of WebAuthn in base64url; an attestation contains certificates. */
const binary = z
  .string()
  .max(16_384)
  .regex(/^[\w-]*$/);

const nonce = z.string().regex(/^[\w-]{1,64}$/);

const credential = {
  id: z.string().regex(/^[\w-]{1,1400}$/),
  rawId: binary,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}).default({}),
};

const registration = z.object({
  name: z.string().trim().min(1).max(60),
  nonce,
  response: z.object({
    ...credential,
    response: z.object({
      attestationObject: binary,
      clientDataJSON: binary,
      transports: z.array(z.string().max(32)).max(8).optional(),
    }),
  }),
});

const confirmation = z.object({
  nonce,
  response: z.object({
    ...credential,
    response: z.object({
      authenticatorData: binary.max(4_096),
      clientDataJSON: binary.max(4_096),
      signature: binary.max(4_096),
    }),
  }),
});

const subscription = z.object({
  endpoint: z.string().max(2_048),
  keys: z.object({ p256dh: binary.max(256), auth: binary.max(256) }),
});

/** Reads the body of `POST /approvals/api/devices`. Throws a 400 Problem. */
export function readSubscription(body: unknown): DeviceSubscription {
  const { data } = subscription.safeParse(body);
  if (data !== undefined) return data;
  throw new Problem('invalid_body', 'send {"endpoint", "keys": {"p256dh", "auth"}}');
}

/** Reads the body of `POST /approvals/api/passkeys`. Throws a 400 Problem. */
export function readRegistration(body: unknown): AttestationAnswer {
  const { data } = registration.safeParse(body);
  if (data !== undefined) return data as AttestationAnswer;
  const error = 'send {"name": at most 60 characters, "nonce", "response": the new credential}';
  throw new Problem('invalid_body', error);
}

/** Reads the passkey that a decision was confirmed with; `null` for none. Throws a 400 Problem. */
export function readConfirmation(body: unknown): AssertionAnswer | null {
  const sent = fieldOf(body, 'passkey');
  if (sent === undefined) return null;
  const { data } = confirmation.safeParse(sent);
  if (data !== undefined) return data as AssertionAnswer;
  throw new Problem('invalid_body', 'passkey must be {"nonce", "response": the assertion}');
}

/** Formats the person of a session. */
export function presentPerson({ caller, name, csrf, expiresAt }: WebSession): PersonJson {
  return { name, email: caller.email ?? null, csrf, expires_at: timestamp(expiresAt) };
}
