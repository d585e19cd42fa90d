import { resolve } from 'node:path';
import { serveLogPath, sightAgent } from '../../actors/workspace/workspace.ts';
import { describeAgent } from '../../dashboard/workspace/describe-agent.ts';
import { localUrl } from '../../machines/url-of.ts';
import { unaskedHooks } from '../guard/unasked-hooks.ts';
import { plainLine } from '../plain-text.ts';
import { warnOfPolicyGap } from '../policy-warning.ts';
import type { Session } from '../session.ts';
import { notRunning } from './not-running.ts';

/** `serve status`: prints whether a folder's agent is running, and its URL. */
export async function serveStatus(session: Session, dir: string): Promise<void> {
  const { output } = session;
  const directory = resolve(dir);
  const sighting = await sightAgent(directory);
  if (sighting.kind === 'missing') throw notRunning(directory, sighting.error);
  const { pid, startedAt } = sighting.served;
  const url = localUrl(sighting.served);
  output.line(plainLine(`the agent runs at ${url} (process ${pid}) since ${startedAt}`));
  const { policySha256 } = await describeAgent(directory, session.env);
  const unasked = unaskedHooks(directory);
  if (unasked !== null) output.warn(unasked);
  const gap = warnOfPolicyGap(output, directory, policySha256);
  output.json({
    status: 'running',
    url,
    pid,
    started_at: startedAt,
    directory,
    log: serveLogPath(directory),
    ...(unasked === null ? {} : { hook_asked: false }),
    ...gap,
  });
}
