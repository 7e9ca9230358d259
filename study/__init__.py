"""The reviewer study and the operational endpoints, over what `replay` derives."""
