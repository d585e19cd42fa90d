import { resolve } from 'node:path';
import { type ChannelFinding, probeChannels } from '../../actors/channels/channels.ts';
import { commandLine } from '../../actors/command-line.ts';
import { askedBy, configuredAdapters } from '../../actors/config/config.ts';
import type { Findings } from '../../agent/start/agent-findings.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding, Subject } from './check.ts';
import { checkWebhook } from './check-webhook.ts';
import { type Sendable, withheld } from './sendable.ts';

/** A finding and the name of its check. */
type Named = [check: string, finding: Finding];

const statuses = { ok: 'pass', warning: 'warn', error: 'fail' } as const;

/** Checks that the channels can reach approvers. Returns one line for each problem, otherwise one for each channel. */
export async function checkChannels(
  { directory, slackGroups = [] }: Pick<Subject, 'directory'> & { slackGroups?: string[] },
  config: Findings['config'],
  { channels, withheldAdapters }: Pick<Sendable, 'channels' | 'withheldAdapters'>,
): Promise<Named[]> {
  const listed = configuredAdapters.filter((adapter) => config?.channels.includes(adapter));
  if (config === null || channels === null || listed.length === 0) {
    return [['slack', { status: 'pass', message: 'no chat adapter' }]];
  }
  const found = await probeChannels(channels, askedBy(config.security), {
    storePath: resolve(directory, config.store.path),
    slackGroups,
  });
  const checks = listed.map(async (adapter): Promise<Named[]> => {
    if (withheldAdapters.has(adapter)) return [[adapter, withheld]];
    if ((channels[adapter] ?? null) === null) return [[adapter, idle(adapter, directory)]];
    const findings =
      adapter === 'webhook' || adapter === 'teams'
        ? [await checkWebhook(channels[adapter]?.targets ?? {}, fixes[adapter])]
        : findingsOf(found.filter((finding) => finding.adapter === adapter));
    return findings.map((finding) => [adapter, finding]);
  });
  return (await Promise.all(checks)).flat();
}

/** What to do about a host that is not reached. */
const fixes = {
  webhook: 'correct its url in webhook-config.yaml, or the way there',
  teams: 'correct the URL in the variable that teams-config.yaml names, or the way there',
};

function idle(adapter: string, directory: string): Finding {
  return {
    status: 'warn',
    message: `the ${adapter} adapter does not run, since its settings are not complete`,
    fix: commandLine(`validate --dir ${shellWord(directory)}`),
  };
}

function findingsOf(found: readonly ChannelFinding[]): Finding[] {
  const wrong = found.filter(({ severity }) => severity !== 'ok');
  if (wrong.length === 0) {
    const message = found.map((finding) => finding.message).join(', ');
    return [{ status: 'pass', message: plainLine(message) }];
  }
  return wrong.map(({ severity, message, fix }) => ({
    status: statuses[severity],
    message: plainLine(message),
    ...(fix === undefined ? {} : { fix: plainLine(fix) }),
  }));
}
