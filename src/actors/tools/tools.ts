export { builtinToolNames, builtinTools } from './builtin/builtin-tools.ts';
export { ScriptGate } from './scripts/script-gate.ts';
export {
  type ScriptDependencies,
  type ScriptIsolation,
  scriptTool,
} from './scripts/script-tool.ts';
export { createToolbox, type Toolbox, type ToolSettings } from './toolbox.ts';
