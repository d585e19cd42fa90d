// Workspace: its agents' folders, background processes and clients.

export { AddSkillError, addSkill } from './add-skill.ts';
export type { AgentDescription } from './agent-description.ts';
export { type LineAnswer, type LineCall, LineError, sentenceOf } from './agent-line.ts';
export {
  type AgentText,
  type ChangedConfig,
  planConfig,
  readAgentText,
  revertConfig,
  writeChangedConfig,
} from './change-config.ts';
export { ConfigFileError, readConfigText, writeConfigText } from './config-file.ts';
export { countWaiting } from './count-waiting.ts';
export { withAllowance, withRules } from './edit-rules.ts';
export { editYaml, type YamlEdit, YamlTextError } from './edit-yaml.ts';
export type { FileTree } from './file-tree.ts';
export { followServeLog } from './follow-serve-log.ts';
export { haltAgent } from './halt-agent.ts';
export { type AgentCommand, LaunchError, launchAgent } from './launch-agent.ts';
export { mergeEgress } from './merge-egress.ts';
export { addToFolder, FolderTakenError, newFolder } from './new-folder.ts';
export { openWorkspace, type Workspace, type WorkspaceListener } from './open-workspace.ts';
export {
  gapJson,
  gapWords,
  type PolicyGapJson,
  policyGap,
  policyGapIn,
} from './policy-gap.ts';
export { isArchiveName, largestArchive, readArchive } from './read-archive.ts';
export { readFolder } from './read-folder.ts';
export { rulesIn, type ToolRulesEdit } from './rules-in.ts';
export { scanFolders } from './scan-folders.ts';
export { lastRunLog, serveLogPath, tailServeLog } from './serve-log.ts';
export { sightAgent } from './sight-agent.ts';
export { AgentStateError, type WorkspaceAgent } from './workspace-agent.ts';
