import { hash, randomBytes } from 'node:crypto';
import {
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { passkeyText } from '../../../machines/governance/passkey.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { staleSignIn } from '../../../machines/sign-in/recent-sign-in.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Passkey, PasskeyRefusal, Passkeys } from '../../ports/passkeys.ts';
import type { WebRecord, WebRecords } from '../../ports/web-records.ts';
import type { OpenSession } from '../../ports/web-sessions.ts';
import { sessionDigest, webOwner } from '../../web-owner.ts';

export interface PasskeyPorts {
  records: WebRecords;
  /** Writes an event of the daemon to the audit log. */
  record: (event: Pick<AuditEvent, 'event' | 'fields'>) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}

/** Time in which a question must be answered, in milliseconds. */
const answerTime = 120_000;

const mostPasskeys = 10;

/** Maximum number of open questions of one person. */
const mostQuestions = 20;

/** What is stored of a passkey besides its id. */
interface StoredPasskey extends Omit<Passkey, 'id'> {
  /** COSE key in base64url. */
  publicKey: string;
  counter: number;
  transports: string[];
}

/** A change for the log. */
interface PasskeyChange {
  event: 'passkey_added' | 'passkey_removed';
  open: OpenSession;
  passkey: Passkey;
}

/** Opens the passkeys of the people of an approvals page. `delay` is the time until a new one counts, in milliseconds. */
export function openPasskeys(
  { origin, delay }: { origin: string; delay: number },
  { records, record, clock, log }: PasskeyPorts,
): Passkeys {
  const rpId = new URL(origin).hostname;

  async function listed(open: OpenSession): Promise<(StoredPasskey & { id: string })[]> {
    const found = await records.list('passkey', webOwner(open));
    return found.map(storedOf).sort((one, other) => one.createdAt - other.createdAt);
  }

  /** Stores a question; its nonce is bound to the session and the text. */
  async function question(open: OpenSession, text: (nonce: string) => string) {
    const owner = webOwner(open);
    const now = clock.now();
    const open_ = await records.list('challenge', owner);
    if (open_.filter(({ expiresAt }) => (expiresAt ?? 0) > now).length >= mostQuestions) {
      return refused('too many passkey questions are open; try again in two minutes');
    }
    const nonce = randomBytes(24).toString('base64url');
    const value = { session: sessionDigest(open), text: text(nonce) };
    await records.put(
      { kind: 'challenge', id: nonce, owner, expiresAt: now + answerTime, value },
      now,
    );
    return { kind: 'asked', nonce } as const;
  }

  /** Takes a question out of the store; returns whether it was open, of this session and about this text. */
  async function isAsked(open: OpenSession, nonce: string, text: string): Promise<boolean> {
    const taken = await records.take('challenge', nonce);
    if (taken === undefined || taken.owner !== webOwner(open)) return false;
    const { session, text: asked } = taken.value;
    return (
      (taken.expiresAt ?? 0) > clock.now() && session === sessionDigest(open) && asked === text
    );
  }

  function refusedIfStale({ session }: OpenSession): PasskeyRefusal | null {
    const problem = staleSignIn(session, clock.now());
    return problem === null ? null : refused(problem);
  }

  async function note({ event, open, passkey }: PasskeyChange): Promise<void> {
    const { provider, userId, email } = open.session.caller;
    const { id, name, countsFrom } = passkey;
    const person = { provider, user_id: userId, ...(email === undefined ? {} : { email }) };
    const counts_from = new Date(countsFrom).toISOString();
    await record({ event, fields: { ...person, credential_id: id, name, counts_from } });
  }

  return {
    async list(open) {
      return (await listed(open)).map(shownOf);
    },
    async startRegistration(open) {
      const stale = refusedIfStale(open);
      if (stale !== null) return stale;
      const known = await listed(open);
      if (known.length >= mostPasskeys) {
        return refused(`you have ${mostPasskeys} passkeys; remove one first`);
      }
      const asked = await question(open, () => registrationText);
      if (asked.kind === 'refused') return asked;
      const { caller, name } = open.session;
      const options = await generateRegistrationOptions({
        rpName: 'Holdpoint approvals',
        rpID: rpId,
        userID: new Uint8Array(hash('sha256', webOwner(open), 'buffer')),
        userName: caller.email ?? name,
        userDisplayName: name,
        challenge: challengeOf(asked.nonce),
        timeout: answerTime,
        attestationType: 'none',
        excludeCredentials: known.map(credentialOf),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      });
      return { ...asked, options };
    },
    async register(open, { nonce, response, name }) {
      const stale = refusedIfStale(open);
      if (stale !== null) return stale;
      if (!(await isAsked(open, nonce, registrationText))) return refused(notAsked);
      const verified = await verifyRegistrationResponse({
        response,
        expectedChallenge: text64(challengeOf(nonce)),
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: true,
      }).catch((error: unknown) => {
        log.warn({ error: String(error) }, 'approvals: a passkey was refused');
        return { verified: false } as const;
      });
      if (!verified.verified) return refused('the browser sent no valid passkey; try again');
      if ((await listed(open)).length >= mostPasskeys) {
        return refused(`you have ${mostPasskeys} passkeys; remove one first`);
      }
      const { credential } = verified.registrationInfo;
      const now = clock.now();
      const stored: StoredPasskey = {
        ...{ name, createdAt: now, countsFrom: now + delay, usedAt: null },
        publicKey: text64(credential.publicKey),
        counter: credential.counter,
        transports: (credential.transports ?? []).slice(0, 8),
      };
      const passkey = shownOf({ ...stored, id: credential.id });
      // An id is the authenticator's choice, so it must not replace a key, not even the person's own.
      const isNew = await records.add(recordOf(open, credential.id, stored), now);
      if (!isNew) return refused('this passkey is in use already');
      await note({ event: 'passkey_added', open, passkey });
      return { kind: 'registered', passkey };
    },
    async remove(open, id) {
      const stale = refusedIfStale(open);
      if (stale !== null) return stale;
      const found = (await listed(open)).find((one) => one.id === id);
      if (found === undefined) return { kind: 'unknown' };
      await records.take('passkey', id);
      await note({ event: 'passkey_removed', open, passkey: found });
      return { kind: 'removed' };
    },
    async ask(open, confirmed) {
      const known = await listed(open);
      const counting = known.filter(({ countsFrom }) => countsFrom <= clock.now());
      if (counting.length === 0) return refused(noneCounts(known));
      const asked = await question(open, (nonce) => passkeyText(confirmed, nonce));
      if (asked.kind === 'refused') return asked;
      const options = await generateAuthenticationOptions({
        rpID: rpId,
        challenge: challengeOf(passkeyText(confirmed, asked.nonce)),
        allowCredentials: counting.map(credentialOf),
        timeout: answerTime,
        userVerification: 'required',
      });
      return { ...asked, options };
    },
    async confirm(open, confirmed, { nonce, response }) {
      const text = passkeyText(confirmed, nonce);
      if (!(await isAsked(open, nonce, text))) return refused(notAsked);
      const found = await records.find('passkey', response.id);
      if (found === undefined || found.owner !== webOwner(open)) {
        return refused('this passkey is not one of yours; use another');
      }
      const { id, ...stored } = storedOf(found);
      if (stored.countsFrom > clock.now()) return refused(noneCounts([stored]));
      const verified = await verifyAuthenticationResponse({
        response,
        expectedChallenge: text64(challengeOf(text)),
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: true,
        credential: {
          id,
          publicKey: new Uint8Array(Buffer.from(stored.publicKey, 'base64url')),
          counter: stored.counter,
        },
      }).catch((error: unknown) => {
        log.warn({ error: String(error) }, 'approvals: a confirmation was refused');
        return { verified: false } as const;
      });
      if (!verified.verified)
        return refused('the passkey did not confirm this decision; try again');
      const { newCounter: counter } = verified.authenticationInfo;
      const isKept = await records.change(
        recordOf(open, id, { ...stored, counter, usedAt: clock.now() }),
      );
      if (!isKept) return refused('this passkey was removed; use another');
      const { authenticatorData, clientDataJSON, signature } = response.response;
      const assertion = {
        credential_id: id,
        public_key: stored.publicKey,
        nonce,
        rp_id: rpId,
        origin,
        authenticator_data: authenticatorData,
        client_data: clientDataJSON,
        signature,
      };
      return { kind: 'confirmed', confirmation: { confirmed, assertion } };
    },
  };
}

/** The text of the question for a new passkey; no decision has it. */
const registrationText = 'registration';

const notAsked =
  'the passkey answers no open question about this decision, so nothing was decided; try again';

/** Returns the SHA-256 of a string. */
function challengeOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hash('sha256', text, 'buffer'));
}

function recordOf(open: OpenSession, id: string, stored: StoredPasskey): WebRecord {
  const value = { ...stored } satisfies JsonObject;
  return { kind: 'passkey', id, owner: webOwner(open), expiresAt: null, value };
}

function storedOf({ id, value }: WebRecord): StoredPasskey & { id: string } {
  // Safe to cast: `register` wrote the value.
  return { ...(value as unknown as StoredPasskey), id };
}

function shownOf({ id, name, createdAt, countsFrom, usedAt }: Passkey): Passkey {
  return { id, name, createdAt, countsFrom, usedAt };
}

function credentialOf({ id, transports }: { id: string; transports: string[] }) {
  return { id, transports: transports as AuthenticatorTransport[] };
}

function noneCounts(known: readonly Pick<Passkey, 'countsFrom'>[]): string {
  if (known.length === 0) return 'you have no passkey; add one on the approvals page';
  const first = Math.min(...known.map(({ countsFrom }) => countsFrom));
  return `your passkey is new and counts from ${new Date(first).toISOString()}`;
}

function refused(problem: string): PasskeyRefusal {
  return { kind: 'refused', problem };
}

function text64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
