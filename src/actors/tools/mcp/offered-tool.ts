import type { JsonObject } from '../../../machines/json.ts';

/** A tool of a server as a model would see it: with what is unsafe to show taken out. */
export interface OfferedTool {
  /** In the words of the server. */
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
  /** Of description and parameters, in hexadecimal digits. */
  sha256: string;
}

/** A tool that cannot be one of the agent's, and why in words that follow its name. */
export interface UnusableTool {
  /** As a server that may lie about everything has it, safe to show. */
  name: string;
  reason: string;
}
