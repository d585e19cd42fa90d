import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { remedies } from '../../src/actors/channels/slack/link/slack-remedies.ts';
import { parseConfig } from '../../src/actors/config/config.ts';
import { channelSchemas } from '../../src/actors/config/schema-channels.ts';
import { botScopes } from '../../src/cli/slack/print-manifest.ts';

const folder = new URL('../../docs/', import.meta.url);
const page = readFileSync(new URL('slack.md', folder), 'utf8');

/** The YAML of the page, in its order, each without the indent of its list. */
const examples = Array.from(page.matchAll(/^( *)```yaml\n(.*?)^\1```/gms), ([, indent, yaml]) =>
  (yaml ?? '').replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
);

describe('the page on Slack', () => {
  it('shows a valid service.yaml', () => {
    const service = `agent_id: refunds\n${examples[0]}`;
    expect(parseConfig(service, { file: 'slack.md', env: {} })).toMatchObject({ ok: true });
  });

  it('shows the defaults of slack-config.yaml', () => {
    const { settings } = channelSchemas.slack.parse(parse(examples[1] ?? ''));
    expect(settings).toEqual(channelSchemas.slack.parse({}).settings);
  });

  it('names every scope of the manifest, and the optional ones', () => {
    const [, table = ''] = /## Scopes\n(.*?)\n## /s.exec(page) ?? [];
    const named = Array.from(table.matchAll(/`([a-z_]+:[a-z.]+)`/g), ([, scope]) => scope);
    expect(new Set(named)).toEqual(
      new Set([...botScopes(), 'connections:write', 'usergroups:read']),
    );
  });

  it('has a remedy for the codes of the daemon', () => {
    const [, table = ''] = /\| Slack says \|.*?\n\|-.*?\n(.*?)\n\n/s.exec(page) ?? [];
    const codes = table
      .split('\n')
      .flatMap((row) =>
        Array.from(row.split('|')[1]?.matchAll(/`(\w+)`/g) ?? [], ([, code]) => code),
      );
    const passing = ['ratelimited', 'internal_error', 'fatal_error'];
    const modal = ['expired_trigger_id', 'exchanged_trigger_id'];
    const unknown = codes.filter((code) => !remedies.has(code ?? ''));
    expect(new Set(unknown)).toEqual(new Set([...passing, ...modal]));
  });

  it('links to pages that exist', () => {
    const links = Array.from(page.matchAll(/\]\(([\w/-]+\.md)\)/g), ([, link]) => link ?? '');
    expect(links.filter((link) => !existsSync(new URL(link, folder)))).toEqual([]);
  });
});
