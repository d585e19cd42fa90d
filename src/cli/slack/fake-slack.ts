import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as demos from '../../../packages/fake-slack/demo.ts';
import { packageRoot } from '../../package-root.ts';
import { CliError } from '../cli-error.ts';

export type FakeSlackDemos = typeof demos;

const path = join(packageRoot, 'packages/fake-slack/demo.ts');

/** Loads the demos of the fake Slack, which only a clone contains. Throws CliError in an installed package. */
export async function loadFakeSlack(): Promise<FakeSlackDemos> {
  if (!existsSync(path)) {
    throw new CliError('the installed package has no fake Slack; run this command in a clone', {
      code: 'no_fake_slack',
    });
  }
  return (await import(pathToFileURL(path).href)) as FakeSlackDemos;
}
