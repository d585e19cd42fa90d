/** The policy that an agent's configuration comes to: `GET /api/agents/{id}/policy`. */
export interface PolicyJson {
  tools: ToolPolicyJson[];
  egress: { mode: string; hosts: { host: string; origin: string }[] };
  auth: { providers: string[]; required: boolean };
  admission: { enabled: boolean; url?: string };
  warnings: string[];
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
  warning?: string;
}
