/** The policy that an agent's configuration comes to: `GET /api/agents/{id}/policy`. */
export interface PolicyJson {
  tools: ToolPolicyJson[];
  egress: { mode: string; hosts: { host: string; origin: string }[] };
  auth: { providers: string[]; required: boolean };
  admission: {
    /** As the agent said when it started last; before that, as the environment of the dashboard would have it. */
    enabled: boolean;
    url?: string;
    /** The newest refusal or failure that the agent has noted; admitting is noted nowhere. */
    last?: AdmissionResultJson;
  };
  /** MCP servers that the agent has never reached, so that their tools are not among `tools`. */
  unknown_servers: string[];
  /** What the agent warns of at its start. */
  warnings: string[];
}

/** How asking the platform ended. */
export interface AdmissionResultJson {
  /** `failed` admits, as the platform could not be asked. */
  result: 'denied' | 'failed';
  at: string;
  /** The platform's reason, or what went wrong. */
  says: string;
}

/** What the layers of governance say of a tool. */
export interface ToolPolicyJson {
  name: string;
  /** Where the tool comes from, such as `builtin`. */
  origin: string;
  decisions: { layer: string; decision: string; rule: string; says: string }[];
  /** `null` lets anybody decide. */
  approvers: string[] | null;
  timeout?: string;
  /** How many have to agree; for a held tool alone. */
  quorum?: number;
  /** Whoever asked for the call may not decide it. */
  four_eyes?: true;
  escalates?: { to: string; after: string };
  /** What the sign-in of the requester has to be. */
  acr?: string;
  warning?: string;
}
