import type { JsonObject } from '../../../machines/json.ts';

/** A tool of a server as a model would see it: with what is unsafe to show taken out. */
export interface OfferedTool {
  /** In the words of the server. */
  name: string;
  description: string;
  /** JSON Schema of the arguments, in the form that every reader takes. */
  parameters: JsonObject;
  /** What the server says of its behaviour: the hints of MCP and no texts, as nobody looks at them before a client does. */
  annotations?: JsonObject;
  /** The structure of structured results, without texts. */
  outputSchema?: JsonObject;
  /** Of the description and of the arguments in the words of the server, in hexadecimal digits. */
  sha256: string;
}

/** A tool that cannot be one of the agent's, and why in words that follow its name. */
export interface UnusableTool {
  /** As a server that may lie about everything has it, safe to show. */
  name: string;
  reason: string;
}
