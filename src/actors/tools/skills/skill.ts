import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import type { CodeDigest } from './code-digest.ts';
import type { Position } from './skill-problem.ts';

/** What a skill needs from the machine it runs on (`metadata.service.requires`). */
export interface Requirements {
  /** Programs that must be on the path. */
  bins: string[];
  env: {
    required: string[];
    /** At least one of these must be set, when there are any. */
    oneOf: string[];
    optional: string[];
  };
}

/** A tool that a `## Tool:` section describes and a script carries out. */
export interface ScriptDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments; its type is always `object`. */
  parameters: JsonObject;
  idempotent: boolean;
  /** Absolute path of the script, links resolved. */
  script: string;
  /** What it is made of: the script and the code in its folder. */
  code: CodeDigest;
  /** The environment variables the script may see. */
  environment: string[];
  /** Id of the skill it belongs to. */
  skill: string;
  /** Skill file relative to the agent's folder, and the line of the section's heading. */
  file: string;
  line: number;
}

/** One skill file, read (docs/contract/models.md). */
export interface Skill {
  /** The frontmatter's `name`. */
  id: string;
  /** The display name, or the id. */
  name: string;
  /** Empty when the frontmatter has none. */
  description: string;
  category?: string;
  tags: string[];
  /** Path relative to the agent's folder. */
  file: string;
  /** The text below the frontmatter, for the system prompt. */
  body: string;
  tools: ScriptDefinition[];
  requires: Requirements;
  /** Hosts the skill says it talks to. */
  egressDomains: string[];
  /** Tools that should wait for a person, as the skill says; none when it is left out. */
  held?: string[];
  /** What its tools could do at worst. */
  risk?: string;
  /** `metadata.service.guardrails` as written, and where each place in it stands in the file. */
  guardrails?: { value: JsonValue; locate: (path: readonly PropertyKey[]) => Position };
}
