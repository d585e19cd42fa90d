import type { ConfigProblem, ServiceConfig } from '../../actors/config/config.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { normalName } from '../../actors/tool-name.ts';
import { addSection, builtinToolNames, parseInputLine } from '../../actors/tools/tools.ts';
import { AddSkillError, revertConfig } from '../../actors/workspace/workspace.ts';
import {
  type AgentPlace,
  type HeldRules,
  planHeldRules,
  usableAgent,
  writeHeldRules,
} from '../policy/held-rules.ts';
import { namedTools } from '../policy/named-tools.ts';
import { readAgent } from '../start/read-agent.ts';
import {
  inputText,
  scriptText,
  sectionText,
  type ToolLanguage,
  type ToolText,
  toolLanguages,
} from './tool-texts.ts';

/** A tool to add to an agent. */
export interface ToolOrder extends ToolText {
  language: ToolLanguage;
  isHeld: boolean;
  /** The approver of the tool's rule. Defaults to the approver of the first existing rule, or the console. */
  to?: string;
}

/** The result of adding a tool. */
export interface MadeTool {
  /** Absolute paths. */
  skill: string;
  script: string;
  isNewSkill: boolean;
  section: string;
  scriptText: string;
  /** `null` if the tool's calls are not held. */
  rules: HeldRules | null;
  config: ServiceConfig;
}

const toolName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const argumentName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Adds a tool to an agent's main skill: its section, its script and, if the tool is held, its rule. The rule is written
 * before the tool. Writes atomically and overwrites no file. Rejects with AddSkillError or ConfigFileError.
 */
export async function makeTool(place: AgentPlace, order: ToolOrder): Promise<MadeTool> {
  checkOrder(order);
  const { directory } = place;
  const agent = await usableAgent(place);
  const { config } = agent;
  const taken = [...namedTools(config, agent.toolbox, agent.seen), ...builtinToolNames].find(
    (name) => normalName(name) === normalName(order.name),
  );
  if (taken !== undefined) {
    throw new AddSkillError(
      'skill_exists',
      `there is a tool ${taken} already; choose another name`,
    );
  }
  const before = new Set((await problemsOf(place)).problems.map(keyOf));
  const rules = order.isHeld
    ? planHeldRules(agent, [order.name], order.to === undefined ? {} : { to: order.to })
    : null;
  if (rules !== null) await writeHeldRules(place, rules);
  const section = sectionText(order);
  const text = scriptText(order, order.language);
  try {
    const added = await addSection(directory, config.skills.path, {
      name: order.name,
      section,
      opening: openingOf(config),
      script: { file: `${order.name}.${toolLanguages[order.language]}`, text },
    });
    try {
      await checkMade(place, order, before);
    } catch (error) {
      await added.rollBack();
      throw error;
    }
    const { skill, script, isNewSkill } = added;
    return { skill, script, isNewSkill, section, scriptText: text, rules, config };
  } catch (error) {
    if (rules !== null) await revertConfig(rules.config);
    if (!(error instanceof RangeError)) throw error;
    throw new AddSkillError('skill_unusable', error.message, { cause: error });
  }
}

/** Throws AddSkillError for input that a SKILL.md section cannot express. */
function checkOrder({ name, description, args }: ToolOrder): void {
  if (!toolName.test(name)) {
    throw unusable(
      `${JSON.stringify(name)} cannot name a tool; use a letter, then up to 63 letters, digits, _ or -, such as cancel_order`,
    );
  }
  const names = args.map((each) => each.name);
  const wrong = names.find((each) => !argumentName.test(each));
  if (wrong !== undefined) {
    throw unusable(
      `${JSON.stringify(wrong)} cannot name an argument; use a letter, then letters, digits, _ or -, such as order_id`,
    );
  }
  const twice = names.find((each, index) => names.indexOf(each) < index);
  if (twice !== undefined) throw unusable(`the argument ${twice} is named twice; name it once`);
  const odd = args.find(({ type }) => !/^\w+(?:\[\])*$/.test(type));
  const [unread] = parseInputLine(inputText(args)).unread;
  if (odd !== undefined || unread !== undefined) {
    throw unusable(
      `${unread?.reason ?? `${JSON.stringify(odd?.type)} of ${odd?.name} is not a known type`}; write string, number, integer, boolean, object, array, any, or one of them with [] for a list`,
    );
  }
  if (description.trim() === '' || /[\p{Cc}\u2028\u2029]/u.test(description)) {
    throw unusable('the description is one line of text that says what the tool does');
  }
}

/** Checks that the agent has the tool as ordered and has no new problems. */
async function checkMade(
  place: AgentPlace,
  order: ToolOrder,
  before: ReadonlySet<string>,
): Promise<void> {
  const { problems, warnings, agent } = await problemsOf(place);
  const fresh = problems.filter((each) => !before.has(keyOf(each)));
  const tool = agent?.toolbox.tools.get(order.name);
  // A rule without its tool is also reported as a problem, but it is not the one to fix.
  const problem = tool === undefined ? fresh.find(({ path }) => path === '') : fresh[0];
  if (problem !== undefined) throw unusable(`nothing was written: ${problem.message}`);
  if (tool?.description === order.description.trim()) return;
  if (tool !== undefined) {
    throw unusable(
      'the description cannot stand as a paragraph of the skill file; write a plain sentence',
    );
  }
  const file = agent?.config.skills.path ?? '';
  const isRead = agent?.toolbox.skills.some((skill) => skill.file === file) === true;
  const why = warnings.find((each) => !isRead && each.file === file)?.message;
  throw unusable(
    `nothing was written: ${why ?? `a section at the end of ${file} is not read, as a comment or a code block is open there; close it first`}`,
  );
}

function problemsOf({ directory, env }: AgentPlace) {
  return readAgent(directory, env, systemClock());
}

/**
 * Compares problems by path where possible: a message may suggest the closest tool name, and the new tool changes that
 * suggestion.
 */
function keyOf({ file, path, message }: ConfigProblem): string {
  return path === '' ? `${file} ${message}` : `${file} ${path}`;
}

function openingOf({ agent_id: id, description }: ServiceConfig): string {
  const about = JSON.stringify(description.trim() || `The tools of ${id}.`);
  return `---\nname: ${id}\ndescription: ${about}\n---\n\n# ${id}\n`;
}

function unusable(message: string): AddSkillError {
  return new AddSkillError('skill_unusable', message);
}
