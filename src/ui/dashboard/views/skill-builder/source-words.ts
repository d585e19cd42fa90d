import type { BuilderSourceJson } from '../../../../http/wire/dashboard/builder-json.ts';

/** Describes the source of the setting for the model that writes skills. */
export const sourceWords: Readonly<Record<BuilderSourceJson, string>> = {
  workspace: 'Set for this workspace.',
  user: 'Set for all your workspaces. Changes here apply to this one only.',
  agent_fallback: 'Uses the model of the agent (deprecated). Set one for this workspace.',
  unset: 'Not set. Changes here apply to this workspace.',
};
