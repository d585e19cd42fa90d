// Which agents are there? Their folders, their processes in the background, and a way to each of them.

export type { AgentDescription } from './agent-description.ts';
export { LineError } from './agent-line.ts';
export { ConfigFileError, readConfigText, writeConfigText } from './config-file.ts';
export { haltAgent } from './halt-agent.ts';
export { type AgentCommand, LaunchError, launchAgent } from './launch-agent.ts';
export { openWorkspace, type Workspace, type WorkspaceListener } from './open-workspace.ts';
export { serveLogPath, tailServeLog } from './serve-log.ts';
export { sightAgent } from './sight-agent.ts';
export { AgentStateError, type WorkspaceAgent } from './workspace-agent.ts';
