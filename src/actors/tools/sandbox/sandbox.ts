export {
  belongsTo,
  FolderTooLargeError,
  isConfiguration,
  isNamedLikeSecret,
  realSpelling,
} from './hidden-files.ts';
export { isolate, SandboxError } from './isolate.ts';
export { makePrivateHome } from './private-home.ts';
export { probeSandbox } from './probe-sandbox.ts';
export { realPlace } from './real-place.ts';
export type { SandboxLevel } from './sandbox-level.ts';
export { isVisible, type SandboxView } from './visible-path.ts';
export { writableFolder } from './writable-folder.ts';
