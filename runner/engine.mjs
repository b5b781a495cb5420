// Questions to the container engine.
import { request } from "node:http";
import { UsageError } from "./options.mjs";

/**
 * Every image must exist before the start: workerd neither pulls nor builds, and with a wrong interceptor containers start
 * in silence and then have no network.
 */
export async function checkImages(docker, tags) {
  for (const tag of tags) {
    const status = await get(docker, `/images/${tag}/json`);
    if (status === 404) throw new UsageError(`there is no image ${tag}: run ./dev setup`);
    if (status !== 200) throw new UsageError(`the container engine at ${docker} answers ${status} when asked for image ${tag}`);
  }
}

function get(docker, path) {
  return new Promise((resolve, reject) => {
    const failed = (error) => reject(new UsageError(`no container engine answers at ${docker} (${error.code ?? error.message}): run ./dev setup`));
    request({ socketPath: docker.slice("unix://".length), path, timeout: 30_000 }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    })
      .on("error", failed)
      .on("timeout", function () {
        this.destroy(new Error("timed out"));
      })
      .end();
  });
}
