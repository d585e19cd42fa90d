import type { ToolRun } from '../../ports/tool.ts';
import { refusedVariable, scriptPath } from '../../process/process.ts';

type Variables = Record<string, string>;

/** Sources of a script's environment. */
export interface ScriptSurroundings {
  agentDirectory: string;
  /** Variables that skills may request by name. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Environment of one run of a script. */
export interface ScriptPlace {
  /** Names of the variables requested by its skill. */
  declared: readonly string[];
  /** Private folder of this run. */
  home: string;
  /** Folder to which it may write permanently; `null` for none. */
  work: string | null;
  /** Variables that point at the egress proxy. */
  proxy: Variables;
}

/**
 * Builds a script's environment from nothing, so that it inherits nothing from the daemon. Variables that affect how
 * programs run are omitted, even if requested.
 */
export function scriptEnvironment(
  { agentDirectory, env }: ScriptSurroundings,
  { declared, home, work, proxy }: ScriptPlace,
  run: ToolRun,
): Variables {
  const asked = declared.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const given = Object.entries({ ...Object.fromEntries(asked), ...run.credential?.env() });
  return {
    ...Object.fromEntries(given.filter(([name]) => refusedVariable(name) === null)),
    ...proxy,
    PATH: scriptPath,
    HOME: home,
    LANG: env['LANG'] ?? 'C.UTF-8',
    TZ: env['TZ'] ?? 'UTC',
    // Compiled Python files next to a script would count as a change of its code.
    PYTHONDONTWRITEBYTECODE: '1',
    ...tagVariables(run.tags),
    SERVICE_TOOL_CALL_ID: run.callId,
    SERVICE_TASK_ID: run.taskId,
    SERVICE_AGENT_DIR: agentDirectory,
    ...(work === null ? {} : { SERVICE_WORK_DIR: work }),
  };
}

/** Passes workflow tags to the tool: `workflow_id` becomes `SERVICE_WORKFLOW_ID` (docs/contract/correlation.md). */
function tagVariables(tags: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tags).map(([key, value]) => [`SERVICE_${key.toUpperCase()}`, value]),
  );
}
