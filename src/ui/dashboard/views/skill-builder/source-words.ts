import type { BuilderSourceJson } from '../../../../http/wire/dashboard/builder-json.ts';

/** Describes the source of the setting for the model that writes skills. */
export const sourceWords: Readonly<Record<BuilderSourceJson, string>> = {
  workspace: 'It is named for this workspace.',
  user: 'It is named for all your workspaces; what you save here is for this one alone.',
  agent_fallback:
    'It is the model of the agent, which will not be possible for ever; name one for this workspace.',
  unset: 'None is named yet. What you save here is for this workspace.',
};
