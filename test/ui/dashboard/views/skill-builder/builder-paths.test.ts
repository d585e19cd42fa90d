import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import type { BuilderChatEvents } from '../../../../../src/http/wire/dashboard/builder-json.ts';
import {
  type BuilderContext,
  builderMachine,
  type SaveInput,
} from '../../../../../src/ui/dashboard/views/skill-builder/builder-machine.ts';
import { hasFocus, inputOf, openAskedPage } from '../../../../helpers/asked-page.ts';
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

const listed = { name: 'weather', path: 'skills/weather/SKILL.md', description: '' };
const stored = { skill_md: '# Current', scripts: {}, format: 'subdir', etag: '"1"' } as const;
const theirs = { skill_md: '# Theirs', scripts: {}, format: 'subdir', etag: '"2"' } as const;
const draft = { skill_md: '# Current written', scripts: { 'rain.sh': 'echo rain' } };
const holds = {
  ...{ tools: ['rain'], asks: ['channel:console:*'], defer_turned_on: false },
  ...{ before: 'a', after: 'b', problem: null },
};
const right = { valid: true, errors: [], warnings: [], holds };
const finding = { rule: 'name', message: 'It has no name.', file: null, line: null, column: null };
const wrong = { valid: false, errors: [finding], warnings: [] };
const result = {
  ...{ name: 'weather', path: listed.path, egress_added: [], held_added: [] },
  ...{ env_configured: [], env_missing: [{ name: 'RAIN_KEY', kind: 'required' as const }] },
};
const changed = { error: 'Somebody else has saved it.', name: 'weather', skill: theirs };
const gone = { error: 'It is gone.', name: 'weather', skill: null };
const failure = { error: 'The disk is full.' };
const words = { chat: 'POST /skill-builder/chat', save: 'POST /skill-builder/save' };

/** The builder of an agent that has one skill. */
async function openBuilder() {
  const asked = await openAskedPage(browser, '#/skill-builder/refunds', {
    'GET /skill-builder/provider': { problem: null, deprecation_warning: null },
    'GET /skill-builder/skills': [listed],
    'GET /skill-builder/skills/weather': stored,
  });
  // A user who leaves unsaved text confirms it.
  asked.page.on('dialog', (dialog) => void dialog.accept());
  await asked.page.getByRole('button', { name: 'Edit weather' }).waitFor();
  await asked.page.getByText('Checking the model …').waitFor({ state: 'detached' });
  return asked;
}

type World = Awaited<ReturnType<typeof openBuilder>>;
type SkillState = 'empty' | 'checking' | 'checked' | 'saving' | 'saved';

const isTalking = (snapshot: AnyMachineSnapshot) => snapshot.hasTag('talking');
const isAt = (snapshot: AnyMachineSnapshot, ...states: SkillState[]) =>
  states.includes(snapshot.value.skill);

/** What the model says, as the server streams it. */
function hears<Name extends keyof BuilderChatEvents>(
  event: Happening<World>['event'],
  name: Name,
  data: BuilderChatEvents[Name],
  ...states: SkillState[]
): Happening<World> {
  return {
    event,
    in: (snapshot) => isTalking(snapshot) && isAt(snapshot, ...states),
    happen: async ({ server }) => {
      const stream = await server.stream(words.chat);
      stream.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      if (name === 'done' || name === 'error') stream.end();
    },
  };
}

/** What the server answers to a check or a save. */
function answers(
  state: 'checking' | 'saving',
  event: object,
  body: unknown,
  status = 200,
): Happening<World> {
  const asked = state === 'checking' ? 'POST /skill-builder/validate' : words.save;
  const child = `0.skillBuilder.skill.${state}`;
  const kind = 'error' in event ? 'error' : 'done';
  return {
    event: { type: `xstate.${kind}.actor.${child}`, ...event },
    in: (snapshot) => isAt(snapshot, state),
    happen: ({ server, refuse }) =>
      status === 200 ? server.answer(asked, body) : refuse(asked, body, status),
  };
}

/** Begins another skill. A save that is under way is not called off by that, and what became of it is said. */
async function leaves({ page, press, server }: World, button: string): Promise<void> {
  await press(button);
  if (!server.underWay().some((line) => line.startsWith(words.save))) return;
  await server.answer(words.save, result);
  await page.getByText('weather is saved.').waitFor();
}

/** What is the same whether or not the model talks. */
function quietly({
  in: isPossible = () => true,
  ...happening
}: Happening<World>): Happening<World> {
  return {
    ...happening,
    in: (snapshot) => !isTalking(snapshot) && isPossible(snapshot),
  };
}

const failed = { error: new Error(failure.error) };

const happenings: Happenings<World> = {
  'something is said': {
    event: { type: 'message.sent', text: 'Tell the weather' },
    in: (snapshot) => !isTalking(snapshot) && isAt(snapshot, 'empty', 'checked', 'saved'),
    happen: async ({ page }) => {
      await page.getByLabel('Message', { exact: true }).fill('Tell the weather');
      await page.keyboard.press('Enter');
    },
  },
  'the model begins': hears(
    { type: 'token.heard', text: 'Which ' },
    'token',
    { text: 'Which ' },
    'empty',
  ),
  'it asks': hears(
    { type: 'message.heard', content: 'Which city?' },
    'message',
    { content: 'Which city?' },
    'empty',
  ),
  'it writes the skill': hears(
    { type: 'draft.heard', draft },
    'skill_draft',
    draft,
    ...(['empty', 'checking', 'checked', 'saving', 'saved'] as const),
  ),
  'it has said all': hears(
    { type: 'stream.ended', problem: null },
    'done',
    {},
    'empty',
    'checking',
  ),
  'it fails': hears({ type: 'stream.ended', problem: failure.error }, 'error', failure, 'empty'),
  'its answer breaks off': {
    event: { type: 'stream.ended', problem: 'The answer was interrupted. Send the message again.' },
    in: (snapshot) => isTalking(snapshot) && isAt(snapshot, 'empty'),
    happen: async ({ server }) => (await server.stream(words.chat)).end(),
  },
  'it is stopped': {
    event: { type: 'answer.stopped' },
    in: (snapshot) => isTalking(snapshot) && isAt(snapshot, 'empty', 'checked'),
    happen: ({ press }) => press('Stop'),
  },
  'a skill is chosen': {
    event: { type: 'skill.chosen', edited: { name: 'weather', skill: stored } },
    in: ({ context }) => context.editing?.name !== 'weather',
    happen: (world) => leaves(world, 'Edit weather'),
  },
  'a new one is begun': {
    event: { type: 'builder.reset' },
    happen: (world) => leaves(world, 'New skill'),
  },
  'the changes are looked at': {
    event: { type: 'changes.toggled' },
    in: (snapshot) =>
      !isTalking(snapshot) && snapshot.context.editing !== null && isAt(snapshot, 'checked'),
    happen: ({ page }) =>
      page.getByRole('button', { name: /^(Preview changes|Back to files)$/ }).click(),
  },
  'it is right': answers('checking', { output: right }, right),
  'it is wrong': quietly(answers('checking', { output: wrong }, wrong)),
  'it cannot be checked': quietly(answers('checking', failed, failure, 500)),
  'its calls are not to be held': {
    event: { type: 'hold.toggled' },
    in: (snapshot) =>
      !isTalking(snapshot) &&
      isAt(snapshot, 'checked') &&
      snapshot.context.check?.holds !== undefined,
    happen: ({ page }) => page.getByRole('checkbox', { name: /^Hold calls/ }).click(),
  },
  'it is to be saved': {
    event: { type: 'save.asked', env: {} },
    in: (snapshot) => isAt(snapshot, 'checked') && snapshot.context.check?.valid === true,
    happen: ({ page }) => page.getByRole('button', { name: /^(Save|Confirm save)$/ }).click(),
  },
  'it is saved': answers(
    'saving',
    { output: { kind: 'saved', result, edited: { name: 'weather', skill: stored } } },
    result,
  ),
  'it is refused': quietly(
    answers('saving', { output: { kind: 'invalid', check: wrong } }, wrong, 400),
  ),
  'somebody else was first': quietly(
    answers('saving', { output: { kind: 'taken', now: changed } }, changed, 412),
  ),
  'it is gone': quietly(answers('saving', { output: { kind: 'taken', now: gone } }, gone, 412)),
  'it cannot be saved': quietly(answers('saving', failed, failure, 500)),
  'what is there is looked at': {
    event: { type: 'theirs.compared' },
    in: ({ context }) => context.taken !== null,
    happen: ({ page }) => page.getByRole('button', { name: /^(Compare with|Save it as)/ }).click(),
  },
  'its variables are given': {
    event: { type: 'save.asked', env: { RAIN_KEY: 'k' } },
    in: (snapshot) => isAt(snapshot, 'saved'),
    happen: async ({ page, press }) => {
      await page.getByLabel('RAIN_KEY').fill('k');
      await press('Save variables');
    },
  },
};

/** What the page shows of its chart, and what it waits for. */
async function look({ page, server }: World, snapshot: AnyMachineSnapshot): Promise<void> {
  if (snapshot.hasTag('saving')) expect(await hasFocus(page)).toBe(true);
  // What the model says of itself is shown once it has said all; until then two of its states look the same.
  expect([await shownBy(page), server.underWay()]).toEqual([shownIn(snapshot), askedIn(snapshot)]);
}

function shownIn(snapshot: AnyMachineSnapshot) {
  const context: BuilderContext = snapshot.context;
  const { turns, heard, talkProblem, editing, check, taken, saveProblem } = context;
  const isWritten = snapshot.hasTag('written');
  const isFree = snapshot.can({ type: 'hold.toggled' });
  const isSaved = snapshot.hasTag('saved');
  return {
    said: [
      ...turns.map(({ role, shown }) => `${role}: ${shown === '' ? 'wrote the skill.' : shown}`),
      ...(isTalking(snapshot) ? [`assistant: ${heard === '' ? 'thinks …' : heard.trim()}`] : []),
    ],
    alerts: [talkProblem, taken?.error, saveProblem].filter((text) => typeof text === 'string'),
    editing: editing?.name ?? null,
    buttons: [...(isTalking(snapshot) ? ['Stop'] : []), ...(isWritten ? buttonsOf(snapshot) : [])],
    text: isWritten ? context.draft?.skill_md : null,
    check: isWritten ? saysOf(check) : null,
    holds: check?.holds === undefined || isSaved ? null : { on: context.hold, isFree },
    saved: isSaved ? `Saved as ${listed.path}.` : null,
  };
}

function saysOf(check: BuilderContext['check']): string {
  if (check === null) return 'Checking …';
  return check.valid
    ? 'No problems found.'
    : 'Fix the errors to save; ask the model to correct them.';
}

function buttonsOf(snapshot: AnyMachineSnapshot): string[] {
  const { editing, compares, taken, result: kept }: BuilderContext = snapshot.context;
  const [isSaving, isSaved] = [snapshot.hasTag('saving'), snapshot.hasTag('saved')];
  const save = compares ? 'Confirm save' : 'Save';
  return [
    ...(editing === null || isSaved ? [] : [compares ? 'Back to files' : 'Preview changes']),
    ...(taken === null
      ? []
      : [taken.skill === null ? 'Save as new skill' : 'Compare with current']),
    ...(isSaved
      ? []
      : [
          isSaving
            ? '(Saving …)'
            : snapshot.can({ type: 'save.asked', env: {} })
              ? save
              : `(${save})`,
        ]),
    ...(kept === null ? [] : [isSaving ? '(Saving …)' : 'Save variables']),
    ...(isSaved ? ['Restart now'] : []),
  ];
}

function askedIn(snapshot: AnyMachineSnapshot): string[] {
  const talk = inputOf(snapshot, '0.skillBuilder.talk.talking');
  const check = inputOf(snapshot, '0.skillBuilder.skill.checking');
  const save: SaveInput | undefined = inputOf(snapshot, '0.skillBuilder.skill.saving');
  const mode = (editing: string | null) =>
    editing === null ? {} : { mode: 'edit', editing_name: editing };
  const messages = talk?.turns.map(({ role, text }: any) => ({ role, content: text }));
  const over = save?.editing && {
    ...{ overwrite: true, editing_name: save.editing.name, skill_name: save.editing.name },
  };
  return [
    ...(talk ? [`${words.chat} ${JSON.stringify({ messages, ...mode(talk.editing) })}`] : []),
    ...(check
      ? [
          `POST /skill-builder/validate ${JSON.stringify({ ...check.draft, ...mode(check.editing) })}`,
        ]
      : []),
    ...(save
      ? [
          `${words.save} ${JSON.stringify({ ...save.draft, env: save.env, hold: save.hold, ...over })}${
            save.editing ? ` over ${save.editing.skill.etag}` : ''
          }`,
        ]
      : []),
  ];
}

function shownBy(page: World['page']) {
  return page.evaluate(() => {
    const main = (globalThis as any).document.querySelector('main');
    const all = (selector: string): any[] => [...main.querySelectorAll(selector)];
    const textOf = (element: any): string | null => element?.innerText.trim() ?? null;
    const buttons = all('.split button').filter(
      (button) =>
        !button.matches('.icon, [role=tab], [aria-label], [aria-label=Conversation] [type=submit]'),
    );
    const hold = main.querySelector('[role=group] input[type=checkbox]');
    const side = main.querySelector('.diff')?.shadowRoot?.querySelector('.cm-merge-b .cm-content');
    return {
      said: all('.log > :is(.user, .assistant)').map(
        (turn) => `${turn.classList[0]}: ${textOf(turn.querySelector('.label + *'))}`,
      ),
      alerts: all('.note[role=alert] > p').map(textOf),
      editing: textOf(main.querySelector('.card.note strong')),
      buttons: buttons.map((button) =>
        button.disabled || button.ariaDisabled === 'true' ? `(${textOf(button)})` : textOf(button),
      ),
      text: textOf(side ?? main.querySelector('[role=tabpanel] > pre')),
      check: textOf(main.querySelector('.checked .says')),
      holds: hold && { on: hold.checked, isFree: !hold.disabled },
      saved: textOf(main.querySelector('.part[role=status] > p')),
    };
  });
}

describe('the shortest paths of the skill builder, in the page', () => {
  walkShown(builderMachine, happenings, openBuilder, look);
});
