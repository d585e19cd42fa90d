import { Document } from 'yaml';
import type { JsonObject } from '../machines/json.ts';
import type { AgentPlan } from '../machines/wizard/agent-plan.ts';

/** Writes the `service.yaml` of a plan; the library quotes whatever would mean something else in YAML. */
export function serviceText({ service, note }: Pick<AgentPlan, 'service' | 'note'>): string {
  const document = asDocument(service);
  // Not as the command was called here: the file may be run elsewhere.
  document.commentBefore = ' Every key: holdpoint schema, and docs/configuration.md.';
  if (note !== '') document.comment = note;
  return document.toString();
}

/** Writes the file of a channel. */
export function channelText(content: JsonObject): string {
  return asDocument(content).toString();
}

/** A value that stands there twice is written twice: a reader refuses too many aliases. */
function asDocument(content: JsonObject): Document {
  return new Document(content, { aliasDuplicateObjects: false });
}
