import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { get as getAlone } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/helpers/open-browser.ts';
import { get } from './connections.ts';
import { startDaemon, writeAgent } from './daemon.ts';
import type { Figure } from './figure.ts';
import { parkInProcess } from './in-process.ts';
import { Load, percentile } from './load.ts';

/** Tasks that begin to wait while the page looks on. */
const events = 40;

/** Milliseconds that a part may take. */
const longest = 240_000;

interface Parked {
  status: { timestamp: string };
}

/** How soon the page of the dashboard shows what happens, and how it feels, with a real server, agent and browser. */
export function pageFigures(): Promise<Figure[]> {
  return onPage(['bench'], 0, async ({ page, ui, urls: [url = ''], requests }) => {
    await page.addInitScript(observe);
    const paints: number[] = [];
    requests.length = 0;
    for (let round = 0; round < 5; round += 1) {
      await page.goto('about:blank');
      await page.goto(`${ui.url}/#/agents`);
      await page.locator('article').first().waitFor();
      paints.push(await page.evaluate<number>(() => (globalThis as any).lcp()));
    }
    const weight = await weightOf(ui.url, requests);
    await page.goto(`${ui.url}/#/approvals`);
    await page.locator('main h1').waitFor();
    const load = new Load(url, 4);
    const lags = await eventLags(page, load, url);
    await load.close();
    const inputs = await inputLags(page, ui.url);
    const shifts = await page.evaluate<number>(() => (globalThis as any).cls());
    return [
      figure('event → pixel, a task that begins to wait', spread(lags), 'p95 250 ms'),
      figure('largest paint of the agents, loaded anew', spread(paints), '500 ms'),
      figure('input → next paint', spread(inputs), '100 ms'),
      figure('layout shift', String(Math.round(shifts * 1_000) / 1_000), '0'),
      figure('sent for the first view, compressed', `${Math.round(weight / 1_024)} KiB`, ''),
    ];
  });
}

/** How soon ten thousand tasks are shown. */
export function longListFigures(): Promise<Figure[]> {
  return onPage(['bench'], 10_000, async ({ page, ui }) => {
    await page.goto(`${ui.url}/#/agents`);
    await page.locator('article').first().waitFor();
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await page.goto(`${ui.url}/#/agents`);
      await page.locator('article').first().waitFor();
      const began = performance.now();
      await page.goto(`${ui.url}/#/tasks`);
      await page.locator('main li a').first().waitFor();
      times.push(performance.now() - began);
    }
    return [figure('first rows of 10,000 tasks', spread(times), '1 s')];
  });
}

/** What twenty agents with a thousand calls that wait cost, and how soon the command listens with and without them. */
export async function manyAgentsFigures(): Promise<Figure[]> {
  const ids = Array.from({ length: 20 }, (_, index) => `bench-${index}`);
  const empty = await listeningTimes([]);
  const listed = await listeningTimes(ids);
  const shown = await onPage(ids, 1_000 / ids.length, async ({ page, ui, urls: [url = ''] }) => {
    await page.addInitScript(observe);
    const times: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      await page.goto('about:blank');
      await page.goto(`${ui.url}/#/approvals`, { waitUntil: 'commit' });
      times.push(await page.evaluate<number>(() => (globalThis as any).opened()));
    }
    const filters = await filterTimes(page);
    await page.goto(`${ui.url}/#/approvals?order=newest`);
    await page.locator('[data-task]').first().waitFor();
    const load = new Load(url, 4);
    const lags = await eventLags(page, load, url);
    await load.close();
    const status = readFileSync(`/proc/${ui.pid}/status`, 'utf8');
    const kibibytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
    return [
      // The first one fills the caches.
      figure('inbox of 1,000 waiting calls in 20 agents, opened', spread(times.slice(1)), '500 ms'),
      figure('filter of these calls by agent → pixel', spread(filters), '50 ms'),
      figure('event → pixel next to these calls', spread(lags), 'p95 100 ms'),
      figure('memory of its server then', `${Math.round(kibibytes / 1_024)} MiB`, ''),
    ];
  });
  return [
    figure('command to listening, no agent', spread(empty), ''),
    figure('command to listening, 20 agents', spread(listed), ''),
    ...shown,
  ];
}

/** What is measured on. */
interface Bench {
  page: Page;
  ui: Ui;
  /** Where the agents answer. */
  urls: string[];
  /** Paths that the page has asked for. */
  requests: string[];
}

/** Opens the page over agents in each of which `parked` calls wait; a part that hangs ends with an error. */
async function onPage(
  ids: readonly string[],
  parked: number,
  measure: (bench: Bench) => Promise<Figure[]>,
): Promise<Figure[]> {
  const stack = new AsyncDisposableStack();
  try {
    const workspace = stack.adopt(workspaceOf(ids), (path) =>
      rmSync(path, { recursive: true, force: true }),
    );
    const urls: string[] = [];
    for (const id of ids) {
      const directory = join(workspace, id);
      if (parked > 0) await parkInProcess(directory, parked);
      const daemon = stack.adopt(await startDaemon(directory), (started) => started.stop());
      urls.push(daemon.url);
    }
    const ui = stack.adopt(await startUi(workspace), (started) => started.stop());
    const { browser } = stack.adopt(await openBrowser(), ({ close }) => close());
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    page.setDefaultTimeout(60_000);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => reject(new Error('the page took too long')), longest);
      stack.defer(() => clearTimeout(timer));
    });
    return await Promise.race([measure({ page, ui, urls, requests }), late]);
  } finally {
    await stack.disposeAsync();
  }
}

function workspaceOf(ids: readonly string[]): string {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-bench-')));
  for (const id of ids) {
    mkdirSync(join(workspace, id));
    writeAgent(join(workspace, id), { id });
  }
  return workspace;
}

/** Milliseconds from the command to the line that says where the page is. */
async function listeningTimes(ids: readonly string[]): Promise<number[]> {
  const workspace = workspaceOf(ids);
  const times: number[] = [];
  try {
    for (let round = 0; round < 5; round += 1) {
      const began = performance.now();
      const ui = await startUi(workspace);
      times.push(performance.now() - began);
      await ui.stop();
    }
    // The first one compiles.
    return times.slice(1);
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

/** Bytes on the wire of what the page has asked for that is a file of it, each once. */
async function weightOf(url: string, paths: readonly string[]): Promise<number> {
  let bytes = 0;
  const files = new Set(paths.filter((path) => !path.startsWith('/api') && path !== 'blank'));
  for (const path of files) bytes += await compressedSize(url + path);
  return bytes;
}

function compressedSize(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': 'br, gzip' };
    getAlone(url, { headers, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.once('end', () => resolve(bytes)).once('error', reject);
    }).once('error', reject);
  });
}

/** Notes largest paints and shifts of the layout, and when a string is drawn. */
function observe(): void {
  const {
    document,
    MutationObserver,
    performance,
    PerformanceObserver,
    requestAnimationFrame,
    setTimeout,
  } = globalThis as any;
  let largest = 0;
  let shifted = 0;
  const watch = (type: string, hear: (entry: any) => void): void =>
    new PerformanceObserver((list: any) => list.getEntries().forEach(hear)).observe({
      type,
      buffered: true,
    });
  watch('largest-contentful-paint', ({ startTime }) => (largest = startTime));
  watch('layout-shift', ({ value, hadRecentInput }) => (shifted += hadRecentInput ? 0 : value));
  Object.assign(globalThis, {
    lcp: () => largest,
    cls: () => shifted,
    /** Resolves with the milliseconds from the start of the page to the frame with the first rows of the inbox. */
    opened: () =>
      new Promise((resolve) => {
        const look = (): void => {
          if (document.querySelector('main [data-task]') === null) setTimeout(look, 1);
          else requestAnimationFrame(() => resolve(performance.now()));
        };
        look();
      }),
    /** Resolves with the time of the frame in which the call of a task is drawn. */
    drawn: (id: string) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (document.querySelector(`main [data-task="${id}"]`) === null) return;
          observer.disconnect();
          requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, characterData: true });
        look();
      }),
  });
}

/** Milliseconds from the moment at which a task is parked on disk to the frame that shows it. */
async function eventLags(page: Page, load: Load, url: string): Promise<number[]> {
  const lags: number[] = [];
  for (let index = 0; index < events; index += 1) {
    const id = `e${index}`;
    const drawn = page.evaluate<number, string>((task) => (globalThis as any).drawn(task), id);
    const answered = load.hold(id);
    const seen = await drawn;
    const task = JSON.parse((await get(`${url}/tasks/${id}`)).text) as Parked;
    lags.push(Math.max(0, seen - Date.parse(task.status.timestamp)));
    await load.approve(id);
    await answered;
  }
  return lags;
}

/** Milliseconds from the choice of an agent in the inbox to the frame that shows its calls alone. */
function filterTimes(page: Page): Promise<number[]> {
  return page.evaluate<number[]>(async () => {
    const { document, Event, performance, requestAnimationFrame, setTimeout } = globalThis as any;
    const select = [...document.querySelectorAll('.filters select')].find((one) =>
      one.labels[0].textContent.trim().startsWith('Agent'),
    );
    const agents = [...select.options].map(({ value }) => value).filter((value) => value !== '');
    const times: number[] = [];
    for (const agent of agents) {
      const began = performance.now();
      select.value = agent;
      select.dispatchEvent(new Event('change', { bubbles: true }));
      const isShown = (): boolean =>
        [...document.querySelectorAll('[data-row]')].every((row) =>
          row.dataset.row.startsWith(`${agent} `),
        );
      while (!isShown()) await new Promise((resolve) => setTimeout(resolve, 0));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      times.push(performance.now() - began);
    }
    return times;
  });
}

/** Milliseconds from a key to the paint after it, on the views that people go through with keys. */
async function inputLags(page: Page, url: string): Promise<number[]> {
  const lags: number[] = [];
  for (const route of ['#/tasks', '#/agents', '#/approvals', '#/audit/bench']) {
    await page.goto(`${url}/${route}`);
    await page.locator('main h1').waitFor();
    for (let index = 0; index < 10; index += 1) {
      await page.evaluate(listen);
      await page.keyboard.press(index % 2 === 0 ? 'j' : 'Tab');
      lags.push(await page.evaluate<number>('painted'));
    }
  }
  return lags;
}

/** Has the page tell, as `painted`, how long after the next key it has painted. */
function listen(): void {
  const { addEventListener, MessageChannel, performance, requestAnimationFrame } =
    globalThis as any;
  const painted = new Promise<number>((resolve) => {
    const hear = ({ timeStamp }: any): void =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now() - timeStamp);
        port2.postMessage(null);
      });
    addEventListener('keydown', hear, { once: true, capture: true });
  });
  Object.assign(globalThis, { painted });
}

interface Ui {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

async function startUi(workspace: string): Promise<Ui> {
  const words = ['ui', '--dir', workspace, '--port', '0', '--no-open', '--no-token', '--json'];
  const child = spawn(
    process.execPath,
    [
      ...['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../src/cli.ts')],
      ...words,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { port } = new URL((JSON.parse(String(line)) as { url: string }).url);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function figure(what: string, measured: string, aim: string): Figure {
  return { what: `page of the dashboard: ${what}`, measured, aim };
}

function spread(times: readonly number[]): string {
  const of = (share: number) => `${Math.round(percentile([...times], share))} ms`;
  return `p50 ${of(0.5)}, p95 ${of(0.95)} of ${times.length}`;
}
