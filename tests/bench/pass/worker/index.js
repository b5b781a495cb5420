// The baseline of egress: a container whose every request is sent on as it is. Any request to the Worker starts it.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

export class PassDO extends DurableObject {
  async fetch() {
    const { container } = this.ctx;
    await container.interceptAllOutboundHttp(this.ctx.exports.PassEgress({}));
    container.start({ image: container.images.sandbox, enableInternet: false });
    // Else it ends with this object, which nobody uses any more.
    await container.setInactivityTimeout(60 * 60 * 1000);
    return new Response("started\n");
  }
}

export class PassEgress extends WorkerEntrypoint {
  fetch(request) {
    return fetch(request);
  }
}

export default { fetch: (request, env) => env.OBJECT.getByName("one").fetch(request) };
