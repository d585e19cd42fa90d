// Tools of an agent: builtin tools, the scripts of its skills, and their sandbox.

export { builtinToolNames, builtinTools } from './builtin/builtin-tools.ts';
export { describeBuiltins } from './builtin/describe-builtins.ts';
export { FolderHandle } from './builtin/folder-handle.ts';
export { searchService } from './builtin/search-service.ts';
export type { ToolConfig } from './builtin/tool-config.ts';
export { GateTools, gateProblems } from './gate/gate-tools.ts';
export { elicitationName, elicitationTool } from './mcp/elicitation-tool.ts';
export { hiddenFromServers } from './mcp/hidden-from-servers.ts';
export { mcpToolName, namedMcpTools, serverOfTool, serverPrefixOf } from './mcp/mcp-names.ts';
export { type McpServers, openMcpServers } from './mcp/open-mcp-servers.ts';
export {
  fingerprintOf,
  type SeenTool,
  SeenTools,
  SeenToolsError,
  type Standing,
  standingOf,
} from './mcp/seen-tools.ts';
export { serverCode } from './mcp/server-code.ts';
export { missingPrograms } from './mcp/server-program.ts';
export { isSecretName, shownPlace } from './mcp/server-secrets.ts';
export type { McpServerSettings } from './mcp/server-settings.ts';
export type { RuledMcpTool } from './mcp/unmatched-rules.ts';
export { probeSandbox, writableFolder } from './sandbox/sandbox.ts';
export type { ScriptDependencies, ScriptIsolation } from './scripts/run-isolated.ts';
export { ScriptGate } from './scripts/script-gate.ts';
export { scriptTool } from './scripts/script-tool.ts';
export { resolveInside } from './skills/inside-directory.ts';
export {
  addSection,
  heldNames,
  heldTools,
  isMissingProgram,
  type MentionedHost,
  mentionedHosts,
  parseFrontmatter,
  parseInputLine,
  type RegistrySkill,
  readRegistry,
  readSkills,
  type Skill,
  type SkillDraft,
  type SkillFinding,
  type SkillProblem,
  toolsToHold,
  validateSkill,
  variableOfHost,
} from './skills/skills.ts';
export { createToolbox, type Toolbox, type ToolSettings } from './toolbox.ts';
