import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import {
  isChanged,
  rulesMachine,
} from '../../../../../src/ui/dashboard/views/policy/rules-machine.ts';
import { hasFocus, openAskedPage } from '../../../../helpers/asked-page.ts';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { walkShown } from '../../../../helpers/page-walk.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const policy = {
  ...{ tools: [], warnings: [], admission: { enabled: false } },
  egress: { mode: 'allowlist', hosts: [] },
  auth: { providers: [], required: false },
};
const pay = {
  tool: 'pay',
  deny: false,
  defer: null,
  acr: '',
  modify: '',
  listed: [],
  conditions: [],
};
const read = { etag: '"1"', content: 'agent_id: refunds', rules: [pay] };
const preview = {
  tests: null,
  ...{ calls: [], counts: {}, weaker: [], unread: null },
  ...{ before: 'agent_id: refunds', content: 'agent_id: refunds\ndeny: {}', etag: '"2"' },
};
const theirs = { error: 'service.yaml has changed.', content: 'agent_id: theirs', etag: '"3"' };
const invalid = {
  ...{ valid: false, warnings: [] },
  errors: [1, 2].map((line) => ({ message: 'no such channel', line, column: 1, path: 'defer' })),
};
const failure = { error: 'The disk is full.' };

/** The editor of rules that the server has not told yet. */
async function openEditor() {
  const asked = await openAskedPage(browser, '#/agents/refunds/policy', {
    'GET /policy': policy,
    'GET /limits': { limits: [] },
    'GET /policy/conditions': { words: [], args: {} },
  });
  await asked.press('Edit the rules');
  return asked;
}

type World = Awaited<ReturnType<typeof openEditor>>;

type Child = 'reading' | 'previewing' | 'saving';

const requests = {
  reading: 'GET /policy/rules',
  previewing: 'POST /policy/preview',
  saving: 'PUT /config',
};

/** What the server answers while the chart is in a state. */
function answers(state: Child, output: unknown, body: unknown, status = 200): Happening<World> {
  return {
    event: { type: `xstate.done.actor.0.rules.${state}`, output },
    in: (snapshot) => snapshot.matches(state),
    happen: ({ refuse, server }) =>
      status === 200 ? server.answer(requests[state], body) : refuse(requests[state], body, status),
  };
}

function fails(state: Child): Happening<World> {
  const error = new Error(failure.error);
  return {
    ...answers(state, null, failure, 500),
    event: { type: `xstate.error.actor.0.rules.${state}`, error },
  };
}

/** What a person presses, where the page has it. */
function presses(
  type: string,
  button: string,
  isThere: Happening<World>['in'] & object,
): Happening<World> {
  return { event: { type }, in: isThere, happen: ({ press }) => press(button) };
}

const isWritten = (snapshot: AnyMachineSnapshot) =>
  isOpen(snapshot) || (snapshot.hasTag('busy') && !snapshot.matches('reading'));
const isOpen = (snapshot: AnyMachineSnapshot) => snapshot.hasTag('open');

const happenings: Happenings<World> = {
  'they are read': answers('reading', read, read),
  'they cannot be read': fails('reading'),
  'they are read again': presses('read.asked', 'Retry', (snapshot) => snapshot.matches('unread')),
  'one is changed': {
    event: ({ context }) => {
      const [rules] = context.rules;
      return { type: 'rule.changed', rules: { ...rules, deny: !rules.deny } };
    },
    in: isOpen,
    happen: ({ page }) => page.getByLabel('denied').click(),
  },
  'what is changed is discarded': presses(
    'read.asked',
    'Discard',
    (snapshot) => isOpen(snapshot) && isChanged(snapshot.context),
  ),
  'a preview is asked for': presses('preview.asked', 'Preview', (snapshot) =>
    snapshot.can({ type: 'preview.asked' }),
  ),
  'it is there': answers('previewing', { kind: 'previewed', preview }, preview),
  'they are not valid': answers(
    'previewing',
    { kind: 'invalid', problems: ['no such channel', 'no such channel'] },
    invalid,
    400,
  ),
  'somebody else has written the file': answers(
    'previewing',
    { kind: 'changed', now: theirs },
    theirs,
    412,
  ),
  'there is no preview': fails('previewing'),
  'they are to be saved': presses('save.asked', 'Save', (snapshot) =>
    snapshot.can({ type: 'save.asked' }),
  ),
  'they are saved': answers('saving', { kind: 'saved' }, {}),
  'the text is not valid': answers(
    'saving',
    { kind: 'invalid', problems: ['no such channel', 'no such channel'] },
    invalid,
    400,
  ),
  'somebody else was first': answers('saving', { kind: 'changed', now: theirs }, theirs, 412),
  'they cannot be saved': fails('saving'),
  'it begins anew from what is there': presses('read.asked', 'Start over from it', (snapshot) =>
    snapshot.matches('conflicted'),
  ),
};

/** What the page shows of its chart, and what it waits for. */
async function look({ page, server }: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const { context, value } = snapshot;
  const isEdited = isWritten(snapshot) && isChanged(context as never);
  if (isEdited) expect(await hasFocus(page)).toBe(true);
  expect([await shownBy(page), server.underWay()]).toEqual([
    {
      alerts: [...context.problems, ...(value === 'conflicted' ? [theirs.error] : [])],
      buttons: buttonsOf(snapshot),
      denied: isWritten(snapshot) ? context['rules'][0].deny : null,
      status: statusOf(snapshot),
      lines: linesOf(snapshot),
    },
    askedIn(snapshot),
  ]);
}

function buttonsOf(snapshot: AnyMachineSnapshot): string[] {
  switch (snapshot.value) {
    case 'reading':
      return [];
    case 'unread':
      return ['Retry'];
    case 'conflicted':
      return ['Start over from it'];
    case 'saved':
      return ['Restart now', 'View policy'];
    case 'previewing':
      return ['(Evaluating recent calls …)', '(Save)', '(Back)', '(Discard)'];
    case 'saving':
      return ['(Preview)', '(Saving …)', '(Back)', '(Discard)'];
    case 'previewed':
      return ['(Preview)', 'Save', '(Back)', 'Discard'];
    default:
      return isChanged(snapshot.context)
        ? ['Preview', '(Save)', '(Back)', 'Discard']
        : ['(Preview)', '(Save)', 'Back'];
  }
}

function statusOf({ value, context }: AnyMachineSnapshot): string {
  if (value === 'reading') return 'Loading …';
  if (value === 'saved') return 'Rules saved.';
  if (value === 'unread' || value === 'conflicted') return '';
  if (!isChanged(context as never)) return 'No changes yet.';
  return context['preview'] === null
    ? 'Preview the effect on recent calls before saving.'
    : 'No call was run.';
}

/** The lines of the file that differ, as they are shown. */
function linesOf({ value, context }: AnyMachineSnapshot): string[] {
  if (value === 'conflicted') return ['- agent_id: refunds', '+ agent_id: theirs'];
  return context['preview'] !== null &&
    (value === 'previewed' || value === 'saving' || value === 'editing')
    ? ['agent_id: refunds', '+deny: {}']
    : [];
}

function askedIn({ value, context }: AnyMachineSnapshot): string[] {
  const { rules } = context as { rules: unknown };
  if (value === 'reading') return ['GET /policy/rules'];
  if (value === 'previewing') {
    return [`POST /policy/preview ${JSON.stringify({ etag: read.etag, rules })}`];
  }
  return value === 'saving'
    ? [`PUT /config ${JSON.stringify({ content: preview.content })} over ${preview.etag}`]
    : [];
}

function shownBy(page: World['page']) {
  return page.evaluate(() => {
    const main = (globalThis as any).document.querySelector('main');
    const all = (selector: string): any[] => [...main.querySelectorAll(selector)];
    const words = ({ innerText }: any): string => innerText.trim();
    return {
      alerts: all('.note[role=alert] > p:first-child').map(words),
      buttons: all('.stack button:not(.icon)').map((button) =>
        button.disabled || button.ariaDisabled === 'true' ? `(${words(button)})` : words(button),
      ),
      denied: main.querySelector('fieldset input[type=checkbox]')?.checked ?? null,
      status: all('.stack > p[role=status], .row > span[role=status]').map(words).join('\n'),
      lines: all('[data-line]').map((line) => words(line).replaceAll('\n', '')),
    };
  });
}

describe('the shortest paths of the rules, in the page', () => {
  walkShown(rulesMachine, happenings, openEditor, look, {
    fingerprint: ({ context }) => isChanged(context),
  });
});
