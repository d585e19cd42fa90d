import { join } from 'node:path';
import { CreateError, createAgent } from '../../agent/create/create-agent.ts';
import { skillOffers } from '../../agent/skills/skill-offers.ts';
import { previewAgent } from '../../agent/start/preview-agent.ts';
import type { WizardPreviewJson } from '../../http/wire/dashboard/wizard-json.ts';
import type { AgentAnswers } from '../../machines/wizard/agent-answers.ts';
import { type AgentPlan, agentPlan } from '../../machines/wizard/agent-plan.ts';
import { modelVariable } from '../../machines/wizard/agent-variables.ts';
import type { WizardOffer } from '../../machines/wizard/offers.ts';
import type { SignIns } from '../sign-in/sign-ins.ts';

export interface AgentMakerOptions {
  /** Absolute path of the workspace's folder. */
  workspace: string;
  signIns: () => Promise<SignIns>;
}

/** Creates agents, each in a folder of its name in the workspace. */
export type AgentMaker = ReturnType<typeof agentMaker>;

export function agentMaker({ workspace, signIns }: AgentMakerOptions) {
  return {
    async offer(): Promise<WizardOffer> {
      return { skills: await skillOffers(), signIn: (await signIns()).providers };
    },
    /** Previews the agent. Writes nothing. */
    async preview(answers: AgentAnswers): Promise<Omit<WizardPreviewJson, 'complaints'>> {
      const { agentId, files, hosts, variables, missing } = previewAgent(
        answers,
        await skillOffers(),
      );
      const directory = join(workspace, agentId);
      return { agent_id: agentId, directory, files, hosts, variables, missing };
    },
    /** Creates the agent of valid answers and returns its folder. Rejects with CreateError; then nothing was written. */
    async make(answers: AgentAnswers): Promise<string> {
      const { session } = answers.model;
      const all = await signIns();
      const token = session === '' ? '' : all.take(session, answers.provider);
      if (token === null) throw new CreateError('agent_invalid', signInAgain);
      const plan = withToken(agentPlan(answers), modelVariable(answers), token);
      const directory = join(workspace, plan.agentId);
      try {
        await createAgent(plan, { directory, mayExist: false });
        return directory;
      } catch (error) {
        if (session !== '') all.giveBack(session);
        throw error;
      }
    },
  };
}

const signInAgain = 'the sign-in has no token any more; sign in again, or give a key';

/** The token of a sign-in is stored in the variable of the API key. */
function withToken(plan: AgentPlan, variable: string | null, token: string): AgentPlan {
  if (token === '' || variable === null) return plan;
  return { ...plan, variables: new Map([...plan.variables, [variable, token]]) };
}
