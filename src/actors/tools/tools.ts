export { builtinToolNames, builtinTools } from './builtin-tools.ts';
export { ScriptGate } from './script-gate.ts';
export { type ScriptDependencies, type ScriptIsolation, scriptTool } from './script-tool.ts';
export { createToolbox, type Toolbox, type ToolSettings } from './toolbox.ts';
