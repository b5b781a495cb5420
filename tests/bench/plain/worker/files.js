// An object in R2: `PUT /files/NAME` stores the body as it comes, `GET /files/NAME` gives it back.
async function put(name, request, env) {
  await env.FILES.put(name, request.body);
  return new Response(null, { status: 201 });
}

async function get(name, env) {
  const { body, size } = await env.FILES.get(name);
  return new Response(body, { headers: { "content-length": size } });
}

/** The answer about the object that the path names; none for other paths. */
export function files(url, request, env) {
  const name = url.pathname.match(/^\/files\/(\w+)$/)?.[1];
  return name && (request.method === "PUT" ? put(name, request, env) : get(name, env));
}
