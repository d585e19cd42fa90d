import { inspectCard } from '../../dashboard/reading/inspect-card.ts';
import type { CardJson } from '../../http/wire/dashboard/a2a-json.ts';
import { readAgentUrl } from '../../machines/card/read-agent-url.ts';
import type { JsonValue } from '../../machines/json.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

export interface CardCheckOptions {
  loopback?: boolean;
}

/** `card check`: fetches an agent's card and lists its problems. */
export async function cardCheck(
  session: Session,
  text: string,
  { loopback = false }: CardCheckOptions,
): Promise<void> {
  const { output } = session;
  const url = readAgentUrl(text);
  if (url === null) {
    throw new CliError('that is no http or https URL without a password', {
      ...{ code: 'usage', exitCode: exitCodes.usage },
      hint: 'name the agent, such as https://agent.example.com',
    });
  }
  const agent = { url, token: null, mayBeLoopback: loopback, closedPorts: [] };
  const inspection = await inspectCard(agent, new AbortController().signal);
  const [first] = inspection.cards;
  if (first?.exchange.problem !== undefined) {
    throw new CliError(plainLine(first.exchange.problem), {
      code: 'unreachable',
      ...(loopback ? {} : { hint: 'an agent on this machine is asked with --loopback' }),
    });
  }
  const shown = new Set<string>();
  let errors = 0;
  for (const card of inspection.cards) {
    const as = card.asked === '' ? 'no version' : `A2A-Version ${card.asked}`;
    output.line(plainLine(`asked with ${as}: ${card.form}, sha256 ${card.card_sha256 ?? 'none'}`));
    if (card.card_sha256 !== null && shown.has(card.card_sha256)) {
      output.line('  the same card as above');
      continue;
    }
    shown.add(card.card_sha256 ?? '');
    errors += card.findings.filter(isError).length;
    for (const scheme of card.schemes) {
      output.line(plainLine(`  signs in with ${scheme.key}: ${scheme.says}`));
    }
    for (const finding of card.findings) output.line(lineOf(finding));
  }
  const { exchange, findings } = inspection.legacy;
  output.line(plainLine(`${exchange.url}: status ${exchange.answer?.status ?? 'none'}`));
  for (const finding of findings) output.line(lineOf(finding));
  if (errors === 0) return output.json(inspection);
  throw new CliError(`the card has ${errors} ${errors === 1 ? 'error' : 'errors'}`, {
    ...{ code: 'card_invalid', exitCode: exitCodes.invalid },
    details: inspection as unknown as { [key: string]: JsonValue },
  });
}

function isError({ severity }: CardJson['findings'][number]): boolean {
  return severity === 'error';
}

function lineOf({ severity, path, message }: CardJson['findings'][number]): string {
  return plainLine(`  ${severity}: ${path === '' ? 'the card' : path} ${message}`);
}
