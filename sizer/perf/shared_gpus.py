"""GPUs that several sessions share by taking turns, while sessions start and end on them."""

from sizer.perf.server_pool import FreeGpus


class SharedGpus:
    """GPUs taken from the free ones of a cluster while a session runs on them, each for so many sessions at once.

    Sessions that share with equally many others are alike: any of them may join any such GPU.
    """

    def __init__(self, places: FreeGpus) -> None:
        self._places = places
        self._server: list[int] = []
        self._n_sessions: list[int] = []  # that run on each GPU ever shared
        self._most: list[int] = []
        self._opened_s: list[float] = []
        self._with_room: dict[
            int, dict[int, None]
        ] = {}  # by sessions per GPU: GPUs with room; a set that keeps its order
        self.pieces: list[tuple[float, float]] = []  # from and to of every GPU that was shared and is free again
        self.n_places = 0  # free, on GPUs that are shared now

    def take(self, per_gpu: int, now: float, without: frozenset[int] = frozenset()) -> int | None:
        """GPU on which a session starts: the fullest shared one with room, else a free one; None: no room."""
        room = self._with_room.setdefault(per_gpu, {})
        found = max(
            (gpu for gpu in room if self._server[gpu] not in without),
            key=lambda gpu: self._n_sessions[gpu],
            default=None,
        )
        if found is None:
            servers = self._places.take(1, 0, without)
            if servers is None:
                return None
            found = len(self._server)
            self._server.append(servers[0])
            self._n_sessions.append(0)
            self._most.append(per_gpu)
            self._opened_s.append(now)
            room[found] = None
            self.n_places += per_gpu
        self._n_sessions[found] += 1
        self.n_places -= 1
        if self._n_sessions[found] == per_gpu:
            del room[found]
        return found

    def give_back(self, gpu: int, now: float) -> None:
        """End a session; with the last one its GPU is free for any job."""
        self._n_sessions[gpu] -= 1
        self.n_places += 1
        room = self._with_room[self._most[gpu]]
        if self._n_sessions[gpu]:
            room[gpu] = None
            return
        room.pop(gpu, None)  # of two sessions the first that ends has put it there
        self.n_places -= self._most[gpu]
        self._places.change((self._server[gpu],), 1)
        self.pieces.append((self._opened_s[gpu], now))

    def server_of(self, gpu: int) -> int:
        """Server of a GPU."""
        return self._server[gpu]

    def n_sessions(self, gpu: int) -> int:
        """Sessions that run on a GPU."""
        return self._n_sessions[gpu]
