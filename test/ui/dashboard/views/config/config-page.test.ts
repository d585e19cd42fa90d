import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { editorSchema } from '../../../../../src/actors/config/config.ts';
import { openAskedPage } from '../../../../helpers/asked-page.ts';
import { axeFindings } from '../../../../helpers/axe-findings.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import { evilTexts } from '../../../../helpers/evil-texts.ts';
import { everyLook, faultsOf, narrow } from '../../../../helpers/faults-of.ts';
import { listedAgent, workspaceApi } from '../../../../helpers/page-tasks.ts';
import { servePage } from '../../../../helpers/serve-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const agent = listedAgent('refunds');
const first = 'agent_id: refunds\nversion: 1.2.0\nmodel:\n  provider: scripted\n';

/** A server that keeps one configuration, in which the word `wrong` is wrong. */
async function serveConfig(text = first) {
  const file = { content: text, etag: 1 };
  const saved: string[] = [];
  const check = (content: string) => {
    const lines = content.split('\n');
    const errors = lines.flatMap((line, index) =>
      line.includes('wrong')
        ? [{ message: `${line} is wrong`, line: index + 1, column: 1, path: 'version' }]
        : [],
    );
    return { valid: errors.length === 0, errors, warnings: [] };
  };
  const server = await servePage(
    workspaceApi([agent], ({ pathname }, body, { method, headers }) => {
      const { content = '' } = Object(body) as { content?: string };
      if (pathname === '/api/schema') return editorSchema('service.yaml');
      if (pathname === '/api/agents/refunds/config/validate') return check(content);
      if (pathname === '/api/agents/refunds/restart') return { status: 'running' };
      if (pathname !== '/api/agents/refunds/config') return undefined;
      const told = () => ({
        content: file.content,
        etag: `"${file.etag}"`,
        path: '/agents/refunds/service.yaml',
      });
      if (method === 'GET') return told();
      if (headers['if-match'] !== `"${file.etag}"`) {
        return Response.json({ ...told(), error: 'service.yaml has changed.' }, { status: 412 });
      }
      if (!check(content).valid) return Response.json(check(content), { status: 400 });
      saved.push(content);
      Object.assign(file, { content, etag: file.etag + 1 });
      return told();
    }),
  );
  return { server, file, saved };
}

async function open(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/#/agents/refunds/config`);
  await page.locator('.cm-content').waitFor();
  await page.getByText('No problems found.').waitFor();
}

/** Writes at the end of the text. */
async function write(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(text);
}

describe('the editor of a configuration', () => {
  it('saves with the keys, over the file it was read from, and offers a restart', async () => {
    const { server, saved } = await serveConfig();
    const { page } = await browser.page();
    await open(page, server.url);
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await write(page, '# mine\n');
    await page.getByText('unsaved').waitFor();
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByRole('button', { name: 'Restart now' }).click();
    await expect
      .poll(() => server.changes.at(-1), { timeout: 20_000 })
      .toBe('POST /api/agents/refunds/restart {}');
    expect(saved).toEqual([`${first}# mine\n`]);
  });

  it('marks errors on their lines before and after a refused save', async () => {
    const { server, saved } = await serveConfig();
    const { page, complaints } = await browser.page();
    await open(page, server.url);
    await write(page, 'wrong: 1\n');
    await page.getByText('1 error. Fix to save.').waitFor();
    await page.locator('.cm-lint-marker-error').first().waitFor();
    await page.getByRole('button', { name: 'line 5' }).click();
    expect(await page.locator('.cm-activeLine').innerText()).toBe('wrong: 1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 error. Fix to save.').waitFor();
    expect(saved).toEqual([]);
    forgive(complaints, ['400']);
  });

  it('completes keys and values of the schema', async () => {
    const { server } = await serveConfig();
    const { page } = await browser.page();
    await open(page, server.url);
    await page.locator('.cm-content').click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('egr');
    await page.locator('.cm-tooltip-autocomplete').getByText('egress', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText('model:\n  provider: ');
    await page.keyboard.type('anth');
    await page
      .locator('.cm-tooltip-autocomplete')
      .getByText('anthropic', { exact: true })
      .waitFor();
  });

  it('keeps the cursor when the schema arrives late', async () => {
    const { page, server } = await openAskedPage(browser, '#/agents/refunds/config');
    await server.answer('GET /config', { content: '', etag: '"1"', path: '/x' });
    await page.locator('.cm-content').focus();
    await page.keyboard.type('egr');
    await server.answer('GET /api/schema', editorSchema('service.yaml'));
    await page.waitForFunction(
      `performance.getEntriesByName(location.origin + '/api/schema').length > 0`,
    );
    await page.keyboard.type('e');
    await page.locator('.cm-tooltip-autocomplete').getByText('egress', { exact: true }).waitFor();
    expect(await page.locator('.cm-content').innerText()).toBe('egre');
  });

  it('shows the difference after a concurrent change', async () => {
    const { server, file, saved } = await serveConfig();
    const { page, complaints } = await browser.page();
    await open(page, server.url);
    Object.assign(file, { content: first.replace('1.2.0', '1.3.0'), etag: 7 });
    await write(page, '# mine\n');
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByText('service.yaml has changed.').waitFor();
    await page.locator('.cm-deletedChunk', { hasText: '1.3.0' }).waitFor();
    expect(saved).toEqual([]);
    forgive(complaints, ['412']);
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => saved, { timeout: 20_000 }).toEqual([`${first}# mine\n`]);
  });

  it('asks before unsaved text is lost', async () => {
    const { server } = await serveConfig();
    const { page } = await browser.page();
    await open(page, server.url);
    await write(page, '# mine\n');
    await page.getByText('unsaved').waitFor();
    page.once('dialog', (dialog) => void dialog.dismiss());
    await page
      .getByRole('navigation', { name: 'Views' })
      .getByRole('link', { name: 'Audit' })
      .click();
    await expect.poll(() => page.url(), { timeout: 20_000 }).toContain('#/agents/refunds/config');
    expect(await page.locator('.cm-content').innerText()).toContain('# mine');
    page.once('dialog', (dialog) => void dialog.accept());
    await page
      .getByRole('navigation', { name: 'Views' })
      .getByRole('link', { name: 'Audit' })
      .click();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
  });

  it('asks before the Back button or another address is used', async () => {
    const { server } = await serveConfig();
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents`);
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    await page.evaluate(`location.hash = '#/agents/refunds/config'`);
    await page.getByText('No problems found.').waitFor();
    await write(page, '# mine\n');
    await page.getByText('unsaved').waitFor();
    const asked: string[] = [];
    let stays = true;
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void (stays ? dialog.dismiss() : dialog.accept());
    });
    const question = 'Leave without saving? Your changes will be lost.';
    for (const leave of ['history.back()', `location.hash = '#/tasks'`, 'history.back()']) {
      const before = asked.length;
      await page.evaluate(leave);
      await expect.poll(() => asked.slice(before), { timeout: 20_000 }).toEqual([question]);
      await expect
        .poll(() => page.url(), { timeout: 20_000 })
        .toBe(`${server.url}/#/agents/refunds/config`);
    }
    expect(await page.locator('.cm-content').innerText()).toContain('# mine');
    expect(await page.evaluate('history.state')).toEqual({ place: 1 });
    stays = false;
    await page.evaluate('history.back()');
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    expect(asked).toHaveLength(4);
    await page.evaluate(`location.hash = '#/approvals'`);
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    expect(asked).toHaveLength(4);
  });

  it('asks before its tab is closed with unsaved text', async () => {
    const { server } = await serveConfig();
    const { page } = await browser.page();
    await open(page, server.url);
    await write(page, '# mine\n');
    await page.getByText('unsaved').waitFor();
    const asked = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    expect(await page.locator('.cm-content').innerText()).toContain('# mine');
  });

  it('replaces selected text, within the policy of the page', async () => {
    const { server, saved } = await serveConfig();
    const { page, complaints } = await browser.page();
    await open(page, server.url);
    await page.locator('.cm-content').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('agent_id: other');
    expect(await page.locator('.cm-content').innerText()).toBe('agent_id: other');
    await page.keyboard.press('ControlOrMeta+z');
    await page.locator('.cm-content', { hasText: 'provider: scripted' }).waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('agent_id: third');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+s');
    await expect.poll(() => saved, { timeout: 20_000 }).toEqual(['agent_id: third']);
    expect(complaints).toEqual([]);
  });

  it('is a plain field where the editor cannot be loaded', async () => {
    const { server, saved } = await serveConfig();
    const { page, complaints } = await browser.page();
    await page.route('**/yaml-editor*', (route) => route.abort());
    await page.goto(`${server.url}/#/agents/refunds/config`);
    const field = page.getByLabel('service.yaml of refunds');
    await field.fill(`${first}# plain\n`);
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByText('Restart now').waitFor();
    expect(saved).toEqual([`${first}# plain\n`]);
    expect(await axeFindings(page)).toEqual([]);
    forgive(complaints, ['ERR_FAILED', 'yaml-editor']);
  });

  it('shows the content and the errors of a file as text', async () => {
    const text = evilTexts.map((evil) => `# wrong ${evil.replaceAll('\n', ' ')}`).join('\n');
    const { server } = await serveConfig(text);
    const { page } = await browser.page();
    await page.goto(`${server.url}/#/agents/refunds/config`);
    await page.getByText(`${evilTexts.length} errors`).waitFor();
    await page.locator('.cm-lint-marker-error').first().waitFor();
    const foreign = 'main :is(img, script, iframe, object, form, meta, base, video)';
    expect(await page.locator(foreign).count()).toBe(0);
    expect(await page.title()).toContain('Configuration of refunds');
  });

  it('is accessible', async () => {
    const { server } = await serveConfig();
    const { page } = await browser.page(narrow);
    await open(page, server.url);
    await write(page, 'wrong: 1\n');
    await page.getByText('1 error').waitFor();
    expect(await faultsOf(page, everyLook)).toEqual([]);
  });
});

it('the lazily loaded parts of the page are within their budgets', () => {
  const folder = join(import.meta.dirname, '../../../../../dist/ui/dashboard');
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Record<
    string,
    { file: string; imports?: string[] }
  >;
  const sizeOf = (name: string): number =>
    gzipSync(readFileSync(join(folder, manifest[name]?.file ?? name))).length;
  expect(sizeOf('views/config/yaml-editor.ts')).toBeLessThan(130 * 1_024);
  // The view of a conversation brings its parser of Markdown and the sanitiser along.
  expect(sizeOf('views/chat/chat.svelte')).toBeLessThan(45 * 1_024);
});
