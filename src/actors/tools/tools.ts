export type { BuiltinDependencies } from './builtin-tool.ts';
export { builtinToolNames, builtinTools } from './builtin-tools.ts';
export { findProgram } from './find-program.ts';
export { type ScriptDependencies, scriptTool } from './script-tool.ts';
export { createToolbox, type Toolbox, type ToolboxInput, type ToolSettings } from './toolbox.ts';
