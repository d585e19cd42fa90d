import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument, stringify } from 'yaml';

/** The channel of the fake Slack in which the refund agent asks for approvals. */
export const demoChannel = 'refunds';

/** Configures a copy of the refund agent to ask for approvals in the Slack at `apiUrl` and to answer messages there. */
export async function askInSlack(directory: string, apiUrl: string): Promise<void> {
  const path = join(directory, 'service.yaml');
  const service = parseDocument(await readFile(path, 'utf8'));
  service.set('channels', ['slack']);
  // The first rule lets small refunds run; the second one asks.
  const rule = ['security', 'defer', 'tools', 'issue_refund', 1];
  service.setIn([...rule, 'to'], `channel:slack:#${demoChannel}`);
  await writeFile(path, service.toString());
  const slack = { adapter: 'slack', settings: { api_url: apiUrl } };
  await writeFile(join(directory, 'slack-config.yaml'), stringify(slack));
}
