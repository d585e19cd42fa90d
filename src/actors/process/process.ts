// Local process management: run folder, list of running agents, service manager.

export { refusedVariable } from '../../machines/reserved-environment.ts';
export { agentProof, challengePattern, isSameProof } from '../agent-proof.ts';
export { readOwnToken } from '../own-token.ts';
export { readSmallFile } from '../read-small-file.ts';
export { type ListedAgent, listAgent, runningAgents } from './agent-list.ts';
export { dashboardToken, noteDashboard } from './dashboard-file.ts';
export { findProgram, scriptPath } from './find-program.ts';
export { checkUsable } from './foreign-files.ts';
export { holdsFile } from './holds-file.ts';
export { hookThatAsked, writeHookFile } from './hook-file.ts';
export { isAlive } from './is-alive.ts';
export { logFileVariable, longestLog, openLogFile, shiftLogs } from './log-file.ts';
export { mayServe } from './may-serve.ts';
export { nearbyPorts } from './nearby-ports.ts';
export { RotatedLog } from './rotated-log.ts';
export { makeRunFolder, runSocket, sweepRunFolders } from './run-folder.ts';
export {
  keptInspectorToken,
  randomToken,
  readServeFile,
  removeServeFile,
  type ServeFile,
  writeRuntimeToken,
  writeServeFile,
} from './serve-file.ts';
export {
  createNotifier,
  type Notify,
  type NotifySettings,
  takeNotifySettings,
} from './service-notifier.ts';
export { lastStartFlags, noteStartFlags } from './start-flags.ts';
export { makeStateFolder, StateFolderError, stateFolderOf } from './state-folder.ts';
export { writePrivately } from './write-privately.ts';
