import {
  conditionsOf,
  type GuardedProject,
  type GuardedTool,
  guardedTools,
} from './guard-rules.ts';

/**
 * Returns the `service.yaml` of the gate that `holdpoint guard` starts: reading inside the project runs, and everything
 * else waits for a person. A project whose path has unusual characters gets no rule that lets a path through.
 */
export function guardService(project: GuardedProject): string {
  const byName = Map.groupBy(guardedTools(project), ({ name }) => name);
  const schemas = [...byName].map(([name, tools]) => `    ${name}: ${schemaOf(tools)}`);
  const rules = [...byName].flatMap(([name, tools]) => [
    `      ${name}:`,
    ...tools.flatMap((tool) => rulesOf(tool, argsOf(tools))),
    '        - {to: "channel:console:*", timeout: 55m}',
  ]);
  return `agent_id: guard
description: Holds the calls of coding agents in ${JSON.stringify(project.root).slice(1, -1).replaceAll('#', '')}
gate:
  # The arguments of each tool that a rule below may let run. A call with any other argument waits.
  tools:
${schemas.join('\n')}
  # Every other tool waits for a person: the network, MCP servers, and tools that a new version brings.
  unknown: defer
# Only the token of this folder may ask and decide.
auth: {required: true}
security:
  guardrails:
    enabled: true
    denied_tools:
      # What the model types into a session of Codex (write_stdin) asks no hook, so Codex opens none.
      - tool: Bash
        when: 'has(call.client) && call.client == "codex" && args.command.matches("${openSession}")'
        message: this command opens a session, and Codex asks no hook for what is typed into it; run the command itself
  defer:
    enabled: true
    default_timeout: 55m
    # Each rule is for one coding agent (call.client) and looks at the folder in which the call works (call.cwd).
    tools:
${rules.join('\n')}
audit: {sign: true}
`;
}

/** A shell or an interpreter without a program to run, which reads commands from its input. */
const openSession =
  '^(?:[^ ]*/)?(?:ba|da|z|fi|k|c)?sh(?: -[A-Za-z]*[ilLs][A-Za-z]*)*$|^(?:[^ ]*/)?(?:python|node|ruby|irb|perl|php|lua)[0-9.]*(?: -i)?$';

/** Returns the schema that names every argument of equally named tools of coding agents. */
function schemaOf(tools: readonly GuardedTool[]): string {
  const texts = new Set(tools.flatMap((tool) => tool.texts));
  const properties = argsOf(tools).map(
    (name) =>
      `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: {${texts.has(name) ? 'type: string' : ''}}`,
  );
  const closed = properties.length === 0 ? ', additionalProperties: false' : '';
  return `{schema: {type: object, properties: {${properties.join(', ')}}${closed}}}`;
}

/** Returns the rules of a tool as lines of a list. */
function rulesOf(tool: GuardedTool, others: readonly string[]): string[] {
  const { client, about } = tool;
  return [
    `        # ${client === null ? '' : `${client}: `}${about}`,
    ...conditionsOf(tool, others).map(
      (when) => `        - {when: '${when.replaceAll("'", "''")}', allow: true}`,
    ),
  ];
}

function argsOf(tools: readonly GuardedTool[]): string[] {
  return [...new Set(tools.flatMap(({ args }) => args))];
}
