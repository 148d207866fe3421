"""Running graphs in onnxruntime, for tests that have made sure that it is installed."""


def session_of(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def hashable(settings):
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in settings.items())
