import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdpointHere } from '../../../cli/command-here.ts';
import type { DashboardProcess } from '../../../helpers/dashboard-process.ts';
import { WorkspaceAgent } from '../../../helpers/workspace-agents.ts';
import { Shared } from './real-page.ts';

const shared = new Shared();
const agents = new Map<string, WorkspaceAgent>();
let dashboard: DashboardProcess;

beforeAll(async () => {
  for (const [id, audit] of Object.entries({ signed: { signing: { enabled: true } }, plain: {} })) {
    agents.set(id, new WorkspaceAgent(shared.workspace, id, { audit }, shared.later));
  }
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' });
  dashboard = await shared.open({ SERVICE_AUDIT_SIGNING_KEY: key.toString('base64') });
  for (const agent of agents.values()) {
    await agent.start(dashboard);
    for (let n = 1; n <= 8; n += 1) await agent.client.send(`t-${n}`, [{ say: `It is ${n}.` }]);
  }
});
afterAll(() => shared.close());

function logOf(id: string): string {
  return join(agents.get(id)!.folder.path, '.service/audit.ndjson');
}

async function verify(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Verify all' }).click();
}

/** The verdict of the command that the page shows, run unchanged. */
async function commandVerdict(page: Page): Promise<{ code: number | null; said: string }> {
  const command = await page.locator('section[aria-label=Verification] code').innerText();
  const [program, ...words] = command.split(' ');
  expect(program).toBe('holdpoint');
  const { code, stdout, stderr } = await holdpointHere(words);
  return { code, said: stdout + stderr };
}

describe.each(['signed', 'plain'])('the log of an agent, %s,', (id) => {
  it('is verified as a whole, and by the command as well', async () => {
    const { page } = await shared.browser.page();
    await page.goto(`${dashboard.url}/#/audit/${id}`);
    await verify(page);
    await page.getByText('chain intact').waitFor();
    const events = readFileSync(logOf(id), 'utf8').trimEnd().split('\n').length;
    const signed = id === 'signed' ? `${events} valid signatures` : 'none signed';
    await page.getByText(`${events} events, ${signed}`).waitFor();
    expect((await commandVerdict(page)).code).toBe(0);
  });

  it('shows the line with a changed byte, and that later ones are unproven', async () => {
    const before = readFileSync(logOf(id), 'utf8');
    const lines = before.trimEnd().split('\n');
    const at = lines.findIndex((line) => line.includes('"t-4"'));
    writeFileSync(
      logOf(id),
      `${lines.with(at, lines[at]!.replace('"t-4"', '"t-5"')).join('\n')}\n`,
    );
    const { page } = await shared.browser.page();
    await page.goto(`${dashboard.url}/#/audit/${id}`);
    await verify(page);
    await page.getByText(`broken at line ${at + 1}`).waitFor();
    await page.getByRole('button', { name: 'Show line' }).click();
    await page.locator(`[data-line="${at + 1}"].bad`).waitFor();
    expect(await page.locator('li.bad').count()).toBe(1);
    const rows = await page
      .locator('[data-line]')
      .evaluateAll((all: any[]) =>
        all.map((row) => [
          Number(row.dataset.line),
          row.innerText.includes('not verifiable after'),
        ]),
      );
    expect(rows).toHaveLength(lines.length);
    for (const [line, isAfter] of rows) expect([line, isAfter]).toEqual([line, line > at + 1]);
    const { code, said } = await commandVerdict(page);
    expect(code).toBe(6);
    // A chain shows a changed line at the next one; a signature shows it itself.
    expect(said).toContain(`audit.ndjson:${id === 'signed' ? at + 1 : at + 2} `);
    writeFileSync(logOf(id), before);
    await verify(page);
    await page.getByText('chain intact').waitFor();
    expect(await page.locator('li.bad').count()).toBe(0);
  });
});
