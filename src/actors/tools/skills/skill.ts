import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import type { CodeDigest } from './code-digest.ts';
import type { Position } from './skill-problem.ts';

/** Requirements of a skill on its machine (`metadata.service.requires`). */
export interface Requirements {
  /** Programs that must be on the PATH. */
  bins: string[];
  env: {
    required: string[];
    /** Variables of which at least one must be set; no requirement if empty. */
    oneOf: string[];
    optional: string[];
  };
}

/** A tool described by a `## Tool:` section and implemented by a script. */
export interface ScriptDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments; its type is always `object`. */
  parameters: JsonObject;
  idempotent: boolean;
  /** Absolute path of the script, links resolved. */
  script: string;
  /** Digests of the script and the code in its folder. */
  code: CodeDigest;
  /** Environment variables available to the script. */
  environment: string[];
  /** Maximum time of a run in milliseconds; the usual one when absent. */
  timeout?: number;
  /** Id of its skill. */
  skill: string;
  /** Skill file relative to the agent's folder; the line of the section's heading is below. */
  file: string;
  line: number;
}

/** A parsed skill file (docs/contract/models.md). */
export interface Skill {
  /** The frontmatter's `name`. */
  id: string;
  /** Display name, or the id. */
  name: string;
  /** Empty if the frontmatter has none. */
  description: string;
  category?: string;
  tags: string[];
  /** Path relative to the agent's folder. */
  file: string;
  /** Text after the frontmatter, for the system prompt. */
  body: string;
  tools: ScriptDefinition[];
  requires: Requirements;
  /** Hosts declared by the skill; `$NAME` is a variable, which the toolbox replaces by its hosts. */
  egressDomains: string[];
  /** Maximum time of a run of its scripts in milliseconds; the usual one when absent. */
  timeout?: number;
  /** Tools for which the skill asks approval; none when absent. */
  held?: string[];
  /** Worst-case effect of its tools. */
  risk?: string;
  /** `metadata.service.guardrails` with `denied_tools`, and the position of each value in the file. */
  guardrails?: { value: JsonValue; locate: (path: readonly PropertyKey[]) => Position };
}
