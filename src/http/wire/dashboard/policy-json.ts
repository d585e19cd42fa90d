/** The effective policy of an agent's configuration: `GET /api/agents/{id}/policy`. */
export interface PolicyJson {
  tools: ToolPolicyJson[];
  egress: { mode: string; hosts: { host: string; origin: string }[] };
  auth: { providers: string[]; required: boolean };
  admission: {
    /**
     * The state that the agent logged at its last start; before the first start, the state according to the dashboard's
     * environment.
     */
    enabled: boolean;
    url?: string;
    /** The agent's latest recorded denial or failure; admissions are not recorded. */
    last?: AdmissionResultJson;
  };
  /** MCP servers that have never been reached, so `tools` does not contain their tools. */
  unknown_servers: string[];
  /** The agent's startup warnings. */
  warnings: string[];
}

/** The result of asking the platform. */
export interface AdmissionResultJson {
  /** `failed` admits the request, because the platform could not be asked. */
  result: 'denied' | 'failed';
  at: string;
  /** The platform's reason, or the error. */
  says: string;
}

/** The effect of the governance layers on a tool. */
export interface ToolPolicyJson {
  name: string;
  /** Source of the tool, such as `builtin`. */
  origin: string;
  decisions: {
    layer: string;
    decision: string;
    rule: string;
    says: string;
    /** Name of the limit in `GET /api/agents/{id}/limits`; absent for another rule. */
    limit?: string;
    /** Present for a rule that decides nothing: how often it would have decided in the last days. */
    shadow?: { times: number; days: number };
  }[];
  /** `null` if anyone may decide. */
  approvers: string[] | null;
  timeout?: string;
  /** Number of required approvals; only for a held tool. */
  quorum?: number;
  /** What a decision needs besides, one sentence each; absent for nothing. */
  demands?: string[];
  escalates?: { to: string; after: string };
  /** The assurance level that the requester's sign-in must have. */
  acr?: string;
  warning?: string;
}
