export { findProgram, scriptPath } from './find-program.ts';
export { FolderTooLargeError } from './hidden-files.ts';
export { isolate, SandboxError } from './isolate.ts';
export { probeSandbox, type SandboxProbe } from './probe-sandbox.ts';
export type { SandboxLevel, SandboxSetting } from './sandbox-level.ts';
