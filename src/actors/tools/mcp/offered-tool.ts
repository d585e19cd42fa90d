import type { JsonObject } from '../../../machines/json.ts';

/** A server's tool as a model would see it, with unsafe characters removed. */
export interface OfferedTool {
  /** The server's own name. */
  name: string;
  description: string;
  /** JSON Schema of the arguments, in a form that all consumers accept. */
  parameters: JsonObject;
  /** The server's behaviour hints, without texts, since only clients display them. */
  annotations?: JsonObject;
  /** True if the server may continue a call as a task on request (MCP 2025-11-25). */
  hasTasks?: true;
  /** Structure of structured results, without texts. */
  outputSchema?: JsonObject;
  /** Hash of the server's original description and arguments, in hexadecimal. */
  sha256: string;
}

/** A tool that the agent cannot use, with the reason worded to follow its name. */
export interface UnusableTool {
  /** The untrusted server's own name, made safe to display. */
  name: string;
  reason: string;
}
