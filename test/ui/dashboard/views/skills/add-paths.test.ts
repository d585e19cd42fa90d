import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import type {
  SkillDetailJson,
  SkillPlanJson,
} from '../../../../../src/http/wire/dashboard/skill-json.ts';
import { addMachine } from '../../../../../src/ui/dashboard/views/skills/add-machine.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { anAgent } from '../../../../helpers/page-server.ts';
import { readOut, walkPage } from '../../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const skill: SkillDetailJson = {
  ...{ name: 'slack-post', display_name: 'Post to Slack', category: 'communication' },
  ...{ description: 'Posts.', tags: [], tools: ['post_message'], held: ['post_message'] },
  ...{ risk: 'Everybody sees it.', skill_md: '# Post', scripts: [], egress_domains: [] },
  ...{ requires: { bins: [], required: [], one_of: [], optional: [] }, digest: 'ab'.repeat(32) },
};

const plan: SkillPlanJson = {
  ...{ name: 'slack-post', added: false, files: ['skills/slack-post/SKILL.md'] },
  ...{ scripts_reach: [], egress_mode: 'deny-all', held_added: [], asks: [], env_missing: [] },
  ...{ defer_turned_on: false, before: 'agent_id: desk\n', after: 'agent_id: desk\n' },
};

interface World extends HeldPage {
  /** The agent that was chosen last. */
  agent: string;
}

const agents = ['', 'desk', 'till'];

const routeOf = (agent: string) => `POST /api/agents/${agent}/skills`;

/** The dialog that adds a skill to one of two agents. */
async function openDialog(): Promise<World> {
  const held = await openHeldPage({
    browser,
    view: '#/skills/slack-post',
    held: ['desk', 'till'].map(routeOf),
    arrange: (server) => {
      server.agents = [anAgent({ id: 'desk' }), anAgent({ id: 'till', status: 'stopped' })];
      server.routes.set('GET /api/skills', () => ({ body: [skill] }));
      server.routes.set('GET /api/skills/slack-post', () => ({ body: skill }));
    },
  });
  forgive(held.complaints, ['409']);
  await held.page.getByRole('button', { name: 'Add to agent' }).click();
  return { ...held, agent: '' };
}

function chooses(agent: string): Happening<World> {
  return {
    event: { type: 'agent.chosen', agent },
    in: ({ value, context }) => value !== 'adding' && context.agent !== agent,
    happen: async (world) => {
      world.agent = agent;
      await world.page.getByRole('combobox').selectOption(agent);
      world.due.push([`${routeOf(agent)}?preview=true`, { name: 'slack-post' }]);
    },
  };
}

const isWaiting = ({ value }: AnyMachineSnapshot) => value === 'looking' || value === 'adding';
const refusal = 'The agent has a skill of this name.';

const happenings: Happenings<World> = {
  'the person chooses the desk': chooses('desk'),
  'the person chooses the till': chooses('till'),
  'the server tells what it does': {
    event: { type: 'xstate.done.actor.0.add-skill.looking', output: plan },
    in: ({ value }) => value === 'looking',
    happen: ({ answer, agent }) => answer(routeOf(agent), { body: plan }),
  },
  'the server has added it': {
    event: { type: 'xstate.done.actor.0.add-skill.adding', output: { ...plan, added: true } },
    in: ({ value }) => value === 'adding',
    happen: ({ answer, agent }) => answer(routeOf(agent), { body: { ...plan, added: true } }),
  },
  'the server refuses it': {
    event: ({ value }) => ({
      type: `xstate.error.actor.0.add-skill.${value}`,
      error: new Error(refusal),
    }),
    in: isWaiting,
    happen: ({ answer, agent }) =>
      answer(routeOf(agent), { status: 409, body: { error: refusal } }),
  },
  'the person confirms': {
    event: { type: 'confirmed' },
    in: ({ value }) => value === 'planned',
    happen: async ({ page, due, agent }) => {
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      due.push([routeOf(agent), { name: 'slack-post' }]);
    },
  },
};

/** What the dialog says in each state. */
function seen({ value, context: { agent, problem } }: AnyMachineSnapshot): string[] {
  const isAdding = value === 'adding';
  const options = ['"select one" [disabled]', '"desk"', '"till"'].map(
    (option, index) => `option ${option}${agents[index] === agent ? ' [selected]' : ''}`,
  );
  const top = [`combobox "Agent"${isAdding ? ' [disabled]' : ''}`, ...options];
  const hasPlan = value === 'planned' || isAdding || value === 'added';
  const middle = [
    ...(value === 'looking' ? ['status: Loading …'] : []),
    ...(problem === null ? [] : [`alert: ${problem}`]),
    ...(hasPlan ? ['definition: 1 in skills/slack-post'] : []),
  ];
  if (value === 'added') {
    const restart = agent === 'desk' ? ' desk has it after a restart.' : '';
    const link = 'link "View configuration"';
    return [...top, ...middle, `status: slack-post is added.${restart}`, link, 'button "Close"'];
  }
  const add = isAdding ? 'Adding …' : 'Add';
  const disabled = value === 'planned' ? '' : ' [disabled]';
  return [...top, ...middle, `button "${add}"${disabled}`, 'button "Cancel"'];
}

describe('the shortest paths of adding a skill, in the page', () => {
  walkPage(
    addMachine,
    happenings,
    openDialog,
    async ({ page }, snapshot) => {
      const roles = ['combobox', 'option', 'status', 'alert', 'definition', 'link', 'button'];
      const shown = await readOut(page.getByRole('dialog'), roles);
      const isOther = (line: string) => !/^button "Copy|^definition: (?!1 in)/.test(line);
      expect(shown.filter(isOther)).toEqual(seen(snapshot));
    },
    { fingerprint: ({ context }) => [context.agent, context.problem] },
  );
});
