// Which agents are there? Their folders, their processes in the background, and a way to each of them.

export { haltAgent } from './halt-agent.ts';
export { type AgentCommand, LaunchError, launchAgent } from './launch-agent.ts';
export { serveLogPath, tailServeLog } from './serve-log.ts';
export { sightAgent } from './sight-agent.ts';
