export { builtinToolNames, builtinTools } from './builtin-tools.ts';
export { type ScriptDependencies, scriptTool } from './script-tool.ts';
export { createToolbox, type Toolbox, type ToolSettings } from './toolbox.ts';
