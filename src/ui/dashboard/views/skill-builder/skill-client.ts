import type {
  BuilderStatusJson,
  CustomSkillContentJson,
  CustomSkillJson,
  SkillChangedJson,
  SkillCheckJson,
  SkillDraftJson,
  SkillSaveResultJson,
} from '../../../../http/wire/dashboard/builder-json.ts';
import { ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import { agentPath } from '../../api/paths.ts';
import type { SaveInput, SaveOutcome } from './builder-machine.ts';

/** Client for an agent's own skills and for the model that writes them. */
export class SkillClient {
  readonly #client: ApiClient;
  readonly #agent: string;

  constructor(client: ApiClient, agent: string) {
    this.#client = client;
    this.#agent = agent;
  }

  /** Loads the model's status. */
  status(): Promise<BuilderStatusJson> {
    return this.#client.get(this.#path('provider'));
  }

  list(): Promise<CustomSkillJson[]> {
    return this.#client.get(this.#path('skills'));
  }

  read(name: string): Promise<CustomSkillContentJson> {
    return this.#client.get(this.#path('skills', name));
  }

  /** Validates a draft; `editing` names the skill being changed, `null` for a new one. */
  async check(
    draft: SkillDraftJson,
    editing: string | null,
    signal: AbortSignal,
  ): Promise<SkillCheckJson> {
    const mode = editing === null ? {} : { mode: 'edit', editing_name: editing };
    const options = { method: 'POST' as const, body: { ...draft, ...mode }, signal };
    return (await this.#client.send<SkillCheckJson>(this.#path('validate'), options)).body;
  }

  /** Saves a draft only over the loaded version, and loads it again. Throws ApiError. */
  async save({ draft, editing, env, hold }: SaveInput): Promise<SaveOutcome> {
    const over =
      editing === null
        ? {}
        : { overwrite: true, editing_name: editing.name, skill_name: editing.name };
    const headers: Record<string, string> =
      editing === null ? {} : { 'if-match': editing.skill.etag };
    const options = { method: 'POST' as const, body: { ...draft, env, hold, ...over }, headers };
    try {
      const sent = await this.#client.send<SkillSaveResultJson>(this.#path('save'), options);
      const { name } = sent.body;
      return { kind: 'saved', result: sent.body, edited: { name, skill: await this.read(name) } };
    } catch (error) {
      const refused = error instanceof ApiError ? refusalOf(error) : null;
      if (refused === null) throw error;
      return refused;
    }
  }

  #path(...parts: string[]): string {
    return agentPath(this.#agent, 'skill-builder', ...parts);
  }
}

function refusalOf({ status, body }: ApiError): SaveOutcome | null {
  const said = Object(body) as Partial<SkillChangedJson & SkillCheckJson>;
  if ((status === 409 || status === 412) && said.skill !== undefined) {
    return { kind: 'taken', now: body as SkillChangedJson };
  }
  return status === 400 && Array.isArray(said.errors)
    ? { kind: 'invalid', check: body as SkillCheckJson }
    : null;
}
