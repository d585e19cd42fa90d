import * as z from 'zod';
import type { SecurityScheme } from '../../../machines/card/agent-card.ts';
import { readExactJson } from '../../../machines/exact-json.ts';
import type { CallerReads } from '../../../machines/governance/caller-reads.ts';
import { isJsonObject } from '../../../machines/json.ts';
import type { ServiceConfig } from '../../config/config.ts';
import type { Outbound } from '../../ports/egress.ts';
import { callerOfClaims, usualClaims } from './caller-of-claims.ts';
import { exchange } from './exchange.ts';
import { OutageLog } from './outage-log.ts';
import { ProviderUnavailableError } from './provider-unavailable.ts';
import { fingerprintOf, SingleFlight } from './single-flight.ts';
import {
  refusal,
  type TokenVerdict,
  type TokenVerifier,
  type VerifierPorts,
} from './token-verifier.ts';

type HttpProvider = Extract<ServiceConfig['auth']['providers'][number], { type: 'http_verifier' }>;

/** Maximum concurrent token checks; further tokens are refused, so a slow verifier ties up few resources. */
const mostQuestions = 256;

/** Returns the card's scheme for tokens of an HTTP verifier. */
export function httpVerifierScheme(): SecurityScheme {
  return { type: 'http', scheme: 'bearer' };
}

/** The verifier's response; only `valid` is required. */
const answerSchema = z.looseObject({ valid: z.boolean() });

/**
 * Verifies every bearer token with a service of the operator (docs/contract/authentication.md). Answers are not cached:
 * a token revoked there is refused at once. Concurrent checks of the same token share one request.
 */
export function httpVerifier(
  { name, settings, groups_claim }: HttpProvider,
  { log, outbound, reads }: VerifierPorts,
): TokenVerifier {
  const outages = new OutageLog(name, log);
  const flights = new SingleFlight<TokenVerdict>(mostQuestions);
  const verifyBearer = async (token: string, orgId: string): Promise<TokenVerdict> => {
    try {
      return read(
        { name, groups_claim, reads: reads() },
        await ask(settings, token, orgId, outbound),
      );
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      outages.note(error);
      return refusal('provider_unavailable', `the token verifier ${name} ${later}`);
    }
  };
  return {
    tokenKind: 'bearer',
    async verify({ bearer, orgId }) {
      if (bearer === null) return null;
      const org = orgId ?? settings.default_org;
      return flights.ask(fingerprintOf(bearer, org), () =>
        flights.isFull
          ? Promise.resolve(refusal('provider_unavailable', `the token verifier ${name} ${later}`))
          : verifyBearer(bearer, org),
      );
    },
  };
}

const later = 'cannot be asked; try again later';

async function ask(
  { url, timeout }: HttpProvider['settings'],
  token: string,
  orgId: string,
  outbound: Outbound | undefined,
): Promise<Record<string, unknown>> {
  const { status, text } = await exchange({
    url: new URL(url),
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ token, org_id: orgId }),
    timeout,
    dispatcher: outbound?.dispatcher,
  });
  if (status < 200 || status > 299) {
    throw new ProviderUnavailableError(`the provider answered ${status}; it must answer 200`);
  }
  const answer = answerSchema.safeParse(parse(text));
  if (answer.success) return answer.data;
  throw new ProviderUnavailableError('the provider must answer JSON with a boolean valid');
}

function parse(text: string): unknown {
  try {
    // Rounded numbers would merge two users into one.
    return readExactJson(text);
  } catch {
    return null;
  }
}

/** Converts a response into a verdict; its `error` is not passed on, as it may repeat the token. */
function read(
  {
    name,
    groups_claim: groupsClaim,
    reads,
  }: Pick<HttpProvider, 'name' | 'groups_claim'> & { reads: CallerReads },
  answer: Record<string, unknown>,
): TokenVerdict {
  if (answer['valid'] !== true) {
    return refusal('rejected', `the token verifier ${name} does not accept the token`);
  }
  const { user_id, email, org_id, workspace_id, claims } = answer;
  const others = isJsonObject(claims) ? claims : {};
  const { acr, email_verified } = others;
  const said = { user_id, email, org_id, workspace_id, acr, email_verified };
  const caller = callerOfClaims(
    name,
    said,
    { ...usualClaims, user_id: 'user_id' },
    { groupsClaim, reads, others },
  );
  if (caller !== null) return { kind: 'verified', caller };
  return refusal('rejected', `the token verifier ${name} names no user`);
}
