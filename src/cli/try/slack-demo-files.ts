import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument, stringify } from 'yaml';

/** The channel of the fake Slack that the refund agent asks in. */
export const demoChannel = 'refunds';

/** Makes a copy of the refund agent ask for approvals in the Slack at `apiUrl`, and answer messages there. */
export async function askInSlack(directory: string, apiUrl: string): Promise<void> {
  const path = join(directory, 'service.yaml');
  const service = parseDocument(await readFile(path, 'utf8'));
  service.set('channels', ['slack']);
  const tool = ['security', 'defer', 'tools', 'issue_refund'];
  service.setIn([...tool, 'to'], `channel:slack:#${demoChannel}`);
  await writeFile(path, service.toString());
  const slack = { adapter: 'slack', settings: { api_url: apiUrl } };
  await writeFile(join(directory, 'slack-config.yaml'), stringify(slack));
}
