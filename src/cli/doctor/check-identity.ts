import { probeIssuer, probeProvider } from '../../actors/access/access.ts';
import { messageOf } from '../../machines/message-of.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding } from './check.ts';
import { type Sendable, withheld } from './sendable.ts';

/** The settings of the approvals page that name its issuer. */
const pageSignIn = 'approvals.sign_in';

/** Maximum clock skew in seconds before tokens are rejected as expired or not yet valid. */
const tolerable = 30;

const severity = { pass: 0, warn: 1, fail: 2 };

/** Checks that every identity provider responds and that its clock agrees with the local clock. */
export async function checkIdentity({
  providers,
  pageIssuer,
  withheldProviders,
}: Pick<Sendable, 'providers' | 'pageIssuer' | 'withheldProviders'>): Promise<Finding> {
  const findings = [
    ...(await Promise.all([
      ...providers.map((one) => examine(one.name, () => probeProvider(one))),
      ...(pageIssuer === null ? [] : [examine(pageSignIn, () => probeIssuer(pageIssuer))]),
    ])),
    ...withheldProviders.map((name) => ({ ...withheld, message: `${name}: ${withheld.message}` })),
  ];
  const asked = findings.filter((finding) => finding !== null);
  const wrong = asked
    .filter(({ status }) => status !== 'pass')
    .toSorted((one, other) => severity[other.status] - severity[one.status]);
  const [first, ...others] = wrong;
  if (first === undefined) return { status: 'pass', message: describe(asked.length) };
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return { ...first, message: plainLine(`${first.message}${more}`) };
}

function describe(count: number): string {
  if (count === 0) return 'no identity provider needs to be asked';
  return count === 1 ? 'the identity provider answers' : `all ${count} identity providers answer`;
}

/** Returns `null` for a provider without network requests. */
async function examine(
  name: string,
  ask: () => ReturnType<typeof probeProvider>,
): Promise<Finding | null> {
  try {
    const probe = await ask();
    if (probe === null) return null;
    const skew = skewOf(probe.date);
    if (skew <= tolerable) return { status: 'pass', message: `${name} answers` };
    return {
      status: 'warn',
      message: `the clock here and that of ${name} differ by ${skew} s`,
      fix: 'set the clock of this machine by NTP',
    };
  } catch (error) {
    const reason = messageOf(error);
    return {
      status: 'fail',
      message: `${name} rejects every caller: ${reason}`,
      fix: `check the settings of ${name}${place(name)}, and the way there`,
    };
  }
}

function place(name: string): string {
  return name === pageSignIn ? '' : ' under auth.providers';
}

/** Returns whole seconds; 0 if the provider sends no date. */
function skewOf(date: string | null): number {
  const theirs = Date.parse(date ?? '');
  return Number.isNaN(theirs) ? 0 : Math.round(Math.abs(Date.now() - theirs) / 1_000);
}
