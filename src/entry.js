// Names of the entrypoints; everything they do is Rust.
import Main from "../build/index.js";
export * from "../build/index.js"; // Durable Object classes
export default Main;

// worker-build puts every exported Rust function on the default class; there they would be callable by RPC.
const { backupGateway, harnessEgress, sandboxEgress } = Main.prototype;
delete Main.prototype.backupGateway;
delete Main.prototype.harnessEgress;
delete Main.prototype.sandboxEgress;

export class BackupGateway extends Main { fetch(request) { return backupGateway(request, this.env, this.ctx); } }
export class HarnessEgress extends Main { fetch(request) { return harnessEgress(request, this.env, this.ctx); } }
export class SandboxEgress extends Main { fetch(request) { return sandboxEgress(request, this.env, this.ctx); } }

// The runtime's own makes a new function of each task, which costs more than what most tasks do. Rust's futures use it for
// every step.
const settled = Promise.resolve();
globalThis.queueMicrotask = (task) => void settled.then(task);
